import Testing

@testable import Engine

@Suite("Runs side by side")
struct AdmissionCoordinatorTests {
  @Test("They keep together what one may use: cores, memory, workers")
  func together() throws {
    let desk = AdmissionCoordinator(Admission(cores: 4, memoryBytes: 300))
    let first = try #require(desk.admit(memoryBytes: 100))
    let second = try #require(desk.admit(memoryBytes: 100))
    #expect(desk.shares == [first: 2, second: 2])
    #expect(desk.admit(memoryBytes: 200) == nil)
    let third = try #require(desk.admit(memoryBytes: 100))
    #expect(desk.shares == [first: 2, second: 1, third: 1])
    #expect(desk.count == 3)
    desk.release(first)
    #expect(desk.shares == [second: 2, third: 2])
  }

  @Test("Places are not given twice, and only as many workers begin as there is room for")
  func places() throws {
    let desk = AdmissionCoordinator(Admission(cores: 8, memoryBytes: 1000, mostWorkers: 2))
    let first = try #require(desk.admit(memoryBytes: 1))
    desk.release(first)
    #expect(desk.admit(memoryBytes: 1) != first)
    #expect(desk.freeWorkers == 1)
    #expect(desk.admit(memoryBytes: 1) != nil)
    #expect(desk.admit(memoryBytes: 1) == nil)
    desk.allowOneMore()
    #expect(desk.admit(memoryBytes: 1) != nil)
  }
}
