import Testing

@testable import Engine

@Suite("Jobs that are tried again")
struct JobRetriesTests {
  @Test("Each attempt waits twice as long as the one before it, at most half a minute")
  func waits() {
    var retries = JobRetries(allowed: 10)
    var waits: [Double?] = []
    for _ in 0..<11 {
      waits.append(retries.again("color", own: 0, atSeconds: 100))
      #expect(retries.takeAll() == (waits.last == .some(nil) ? [] : ["color"]))
    }
    #expect(waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, nil])
  }
}
