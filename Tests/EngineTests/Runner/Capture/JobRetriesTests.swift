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

  @Test("A job is due when its time has come and not before, and only once")
  func due() {
    var retries = JobRetries(allowed: 1)
    #expect(retries.isEmpty && retries.secondsToNext(atSeconds: 0) == nil)
    #expect(retries.again("depth", own: 0, atSeconds: 10) == 0.5)
    #expect(retries.again("color", own: 0, atSeconds: 10.25) == 0.5)
    #expect(retries.takeDue(atSeconds: 10.4) == [])
    #expect(retries.secondsToNext(atSeconds: 10.25) == 0.25)
    #expect(retries.takeDue(atSeconds: 10.5) == ["depth"])
    #expect(retries.secondsToNext(atSeconds: 11) == 0)
    #expect(retries.takeDue(atSeconds: 11) == ["color"])
    #expect(retries.isEmpty)
  }
}
