import Testing

@testable import Cluster

@Suite("What Slurm tells an element")
struct SlurmPlaceTests {
  @Test("Its number, its name, and what it may use")
  func whole() {
    let place = TaskEnvironment(slurm: [
      "SLURM_ARRAY_JOB_ID": "123", "SLURM_ARRAY_TASK_ID": "45", "SLURM_JOB_ID": "168",
      "SLURM_CPUS_PER_TASK": "4", "SLURM_MEM_PER_NODE": "4000", "SLURMD_NODENAME": "node17",
    ])
    #expect(place.index == 45)
    #expect(place.job == "123_45")
    #expect(place.cores == 4)
    #expect(place.memoryBytes == 4000 << 20)
    #expect(place.node == "node17")
  }

  @Test("Outside of a job it is the element with index 0, with what the machine has")
  func outside() {
    let place = TaskEnvironment(slurm: [:])
    #expect(place == TaskEnvironment(index: 0, job: "0", cores: nil, memoryBytes: nil))
  }

  static let odd: [(String, [String: String])] = [
    ("a way out of the folder", ["SLURM_ARRAY_JOB_ID": "../../x"]),
    ("no number of cores", ["SLURM_CPUS_PER_TASK": "0"]),
    ("more memory than there is anywhere", ["SLURM_MEM_PER_NODE": "\(Int.max)"]),
    ("all memory of a node", ["SLURM_MEM_PER_NODE": "0"]),
    ("no name", ["SLURMD_NODENAME": ""]),
  ]

  @Test("What cannot be is not believed", arguments: odd.indices)
  func nonsense(_ index: Int) {
    let (name, environment) = Self.odd[index]
    let place = TaskEnvironment(slurm: environment)
    #expect(
      place == TaskEnvironment(index: 0, job: "0", cores: nil, memoryBytes: nil), "\(name)")
  }
}
