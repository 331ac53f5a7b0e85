// Runs the unit tests. A filter that matches no case is a failure: otherwise a mistyped suite name
// would be a test that always passes.

#define DOCTEST_CONFIG_IMPLEMENT
#include <iostream>

#include "doctest/doctest.h"

namespace {

// The number of cases that the filters on the command line let through.
unsigned g_matched_cases = 0;

class CaseCounter : public doctest::IReporter {
 public:
  explicit CaseCounter(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    g_matched_cases = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("case_counter", 0, CaseCounter);

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  if (context.shouldExit()) return status;
  if (g_matched_cases == 0) {
    std::cerr << "no test case matches the filters\n";
    return 1;
  }
  return status;
}
