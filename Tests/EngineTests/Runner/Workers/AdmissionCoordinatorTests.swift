import Testing

@testable import Engine

@Suite("Runs side by side")
struct AdmissionCoordinatorTests {
  @Test("They keep together what one may use: cores, memory, workers")
  func together() throws {
    let coordinator = AdmissionCoordinator(Admission(cores: 4, memoryBytes: 300))
    let first = try #require(coordinator.admit(memoryBytes: 100))
    let second = try #require(coordinator.admit(memoryBytes: 100))
    #expect(coordinator.shares == [first: 2, second: 2])
    #expect(coordinator.admit(memoryBytes: 200) == nil)
    let third = try #require(coordinator.admit(memoryBytes: 100))
    #expect(coordinator.shares == [first: 2, second: 1, third: 1])
    #expect(coordinator.count == 3)
    coordinator.release(first)
    #expect(coordinator.shares == [second: 2, third: 2])
  }

  @Test("Places are not given twice, and only as many workers begin as there is room for")
  func places() throws {
    let coordinator = AdmissionCoordinator(Admission(cores: 8, memoryBytes: 1000, mostWorkers: 2))
    let first = try #require(coordinator.admit(memoryBytes: 1))
    coordinator.release(first)
    #expect(coordinator.admit(memoryBytes: 1) != first)
    #expect(coordinator.freeWorkers == 1)
    #expect(coordinator.admit(memoryBytes: 1) != nil)
    #expect(coordinator.admit(memoryBytes: 1) == nil)
    coordinator.allowOneMore()
    #expect(coordinator.admit(memoryBytes: 1) != nil)
  }
}
