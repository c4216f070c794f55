#include <format/rule.h>

#include <cstdio>

using namespace assay::format;

// Prints each finding at once, without a heap.
int main() {
  int told = 0;
  const auto tell = [](void* count, const Finding& finding) {
    Text place;
    finding.place.write(place);
    std::printf("%s, %.*s: %.*s\n", finding.rule.id.data(), static_cast<int>(place.view().size()), place.view().data(),
                static_cast<int>(finding.message.size()), finding.message.data());
    return ++*static_cast<int*>(count), true;
  };
  Findings findings(tell, &told);
  findings.check(false, "T4", Place{nullptr, "value", 3}, "its rank is ", 17);
  return told == 1 && findings.count() == 1 ? 0 : 1;
}
