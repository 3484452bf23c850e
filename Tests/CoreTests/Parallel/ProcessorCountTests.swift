import Testing

@testable import Core

@Suite("Processors that a process may use")
struct ProcessorCountTests {
  @Test(
    "The bits of the mask are counted",
    arguments: [
      ("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n", 8),
      ("Cpus_allowed:\t00000000,00000003\n", 2), ("Cpus_allowed:\t0\n", nil), ("", nil),
    ] as [(String, Int?)])
  func mask(status: String, count: Int?) {
    #expect(ProcessorCount.allowed(in: status) == count)
    #expect(ProcessorCount.available >= 1)
  }
}
