#include <format/take.h>

// Calls the function for each of two values.
void each(assay::format::Take<int> take) {
  take(1);
  take(2);
}

int main() {
  int sum = 0;
  each([&](int value) { sum += value; });
  return sum == 3 ? 0 : 1;
}
