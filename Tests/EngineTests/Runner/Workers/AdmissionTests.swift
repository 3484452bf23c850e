@testable import Engine
import SystemPackage
import Testing

@Suite("Which workers may run at a time")
struct AdmissionTests {
  @Test("No more than there are descriptors and threads for; what was short comes back one by one")
  func mostWorkers() {
    var admission = Admission(cores: 8, memoryBytes: 100, mostWorkers: 2)
    for id in 0..<2 {
      #expect(admission.canAdmit(memoryBytes: 1))
      admission.admit(id, memoryBytes: 1)
    }
    #expect(!admission.canAdmit(memoryBytes: 1))
    admission.release(0)
    admission.limitToRunning()
    #expect(admission.mostWorkers == 1 && !admission.canAdmit(memoryBytes: 1))
    admission.release(1)
    #expect(admission.canAdmit(memoryBytes: 1))
    admission.allowOneMore()
    #expect(admission.mostWorkers == 2)
    #expect(MachineLimits.workers(forDescriptors: 256) == 60)
    #expect(MachineLimits.workers(forThreads: 64) == 10)
    #expect(MachineLimits.workers >= 1 && MachineLimits.cores >= 1)
  }

  @Test("One may always run, however much it needs")
  func one() {
    var admission = Admission(cores: 4, memoryBytes: 100)
    #expect(admission.canAdmit(memoryBytes: 1000))
    admission.admit(1, memoryBytes: 1000)
    #expect(!admission.canAdmit(memoryBytes: 0))
    admission.release(1)
    #expect(admission.canAdmit(memoryBytes: 1000))
  }

  @Test("Never more than cores, never more promised than there is, and all cores are given away")
  func random() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let cores = Int.random(in: 1...9, using: &random)
      let memory = Int64.random(in: 0...100, using: &random)
      var admission = Admission(cores: cores, memoryBytes: memory)
      var running: [Int: Int64] = [:]
      for id in 0..<40 {
        let needed = Int64.random(in: 0...60, using: &random)
        if admission.canAdmit(memoryBytes: needed) {
          admission.admit(id, memoryBytes: needed)
          running[id] = needed
        } else {
          // Refused only with a reason.
          #expect(running.count >= cores || running.values.reduce(0, +) + needed > memory)
        }
        #expect(running.count <= cores || cores < 1)
        #expect(running.count == 1 || running.values.reduce(0, +) <= memory)
        #expect(admission.usedMemoryBytes == running.values.reduce(0, +))
        let shares = admission.shares
        #expect(shares.map(\.id).sorted() == running.keys.sorted())
        #expect(shares.allSatisfy { $0.cores >= 1 })
        #expect(shares.isEmpty || shares.reduce(0) { $0 + $1.cores } == cores)
        if Bool.random(using: &random), let gone = running.keys.randomElement(using: &random) {
          admission.release(gone)
          running[gone] = nil
        }
      }
    }
  }

  @Test("What stages declare is added to what every worker uses; more than can be counted is all")
  func expected() throws {
    func pipeline(_ color: String, _ depth: String) throws -> PipelineDefinition {
      try PipelineReader.read(
        """
        schema: 1
        stages:
          color: {uses: toy-color, resources: {memory: \(color)}}
          depth: {uses: toy-frames, resources: {memory: \(depth)}}
        """, file: "toy.yaml", registry: .toys)
    }
    #expect(
      Admission.expectedMemoryBytes(try pipeline("2GB", "1GB"))
        == Admission.baseMemoryBytes + 3_000_000_000)
    #expect(Admission.expectedMemoryBytes(try pipeline("8999999TB", "8999999TB")) == .max)
  }
}
