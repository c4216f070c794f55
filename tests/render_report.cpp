#include <fstream>
#include <iostream>

#include "conformance/report/html.h"
#include "conformance/report/table.h"

// render_report RECORDS.jsonl PAGE.html: the HTML report of a file of records; its table goes to stdout.
int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: render_report RECORDS.jsonl PAGE.html\n";
    return 2;
  }
  std::ifstream records(argv[1]);
  std::ofstream page(argv[2]);
  const assay::Summary summary = assay::summarize(records);
  assay::write_html(page, summary, {{"assay", "0.1.0"}, {"Seed", "42"}, {"Machine", "x86-64 </script>"}});
  assay::write_table(std::cout, summary);
  return page.flush() ? 0 : 1;
}
