#include "bench.html.h"
#include "bench/results.h"
#include "chart.min.js.h"
#include "conformance/report/page.h"
#include "look.css.h"

namespace assay::bench {

void write_html(std::ostream& out, const Results& results) {
  report::write_page(out, embedded::bench_html,
                     {{"{{library}}", embedded::chart_min_js},
                      {"{{data}}", report::page_data(to_json(results))},
                      {"{{look}}", embedded::look_css}});
}

}  // namespace assay::bench
