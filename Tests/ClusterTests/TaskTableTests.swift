import Testing

@testable import Cluster

@Suite struct TaskTableTests {
  @Test("An element is found by itself, else among those that stand alike, else not at all")
  func lookup() {
    var table = TaskTable(isQueue: true)
    table.tasks[TaskID(job: "7", index: 2)] = TaskView(state: .running, node: "node1")
    table.folded = [
      FoldedTasks(job: "7", indices: RangeSet([0..<4, 9..<10]), view: TaskView(state: .pending))
    ]
    #expect(table[TaskID(job: "7", index: 2)]?.state == .running)
    #expect(table[TaskID(job: "7", index: 9)]?.state == .pending)
    #expect(table[TaskID(job: "7", index: 4)] == nil)
    #expect(table[TaskID(job: "8", index: 0)] == nil)
  }

  @Test("A row of a whole array is about each of its elements that has none of its own")
  func wholeArray() {
    var table = TaskTable(isQueue: true)
    table.tasks[TaskID(job: "23", index: nil)] = TaskView(state: .cancelled)
    table.tasks[TaskID(job: "23", index: 0)] = TaskView(state: .running)
    #expect(table[TaskID(job: "23", index: 0)]?.state == .running)
    #expect(table[TaskID(job: "23", index: 5)]?.state == .cancelled)
    #expect(table[TaskID(job: "23", index: nil)]?.state == .cancelled)
    #expect(table[TaskID(job: "24", index: 5)] == nil)
  }
}
