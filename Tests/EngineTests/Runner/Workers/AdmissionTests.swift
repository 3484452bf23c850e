@testable import Engine
import SystemPackage
import Testing

@Suite("Which workers may run at a time")
struct AdmissionTests {
  @Test("No more than there are descriptors and threads for; what was short comes back one by one")
  func mostWorkers() {
    let admission = Admission(cores: 8, memoryBytes: 100, mostWorkers: 2)
    let places = (0..<2).compactMap { _ in admission.admit(memoryBytes: 1) }
    #expect(places.count == 2 && admission.admit(memoryBytes: 1) == nil)
    admission.release(places[0])
    #expect(admission.freeWorkers == 1)
    admission.limitToRunning()
    #expect(admission.freeWorkers == 0 && admission.admit(memoryBytes: 1) == nil)
    admission.release(places[1])
    let next = admission.admit(memoryBytes: 1)
    #expect(next.map(places.contains) == false, "places are not given twice")
    admission.allowOneMore()
    #expect(admission.freeWorkers == 1 && admission.admit(memoryBytes: 1) != nil)
    #expect(MachineLimits.workers(forDescriptors: 256) == 60)
    #expect(MachineLimits.workers(forThreads: 64) == 10)
    #expect(MachineLimits.workers >= 1 && MachineLimits.cores >= 1)
  }

  @Test("One may always run, however much it needs")
  func one() throws {
    let admission = Admission(cores: 4, memoryBytes: 100)
    let place = try #require(admission.admit(memoryBytes: 1000))
    #expect(admission.admit(memoryBytes: 0) == nil)
    admission.release(place)
    #expect(admission.admit(memoryBytes: 1000) != nil)
  }

  @Test("The rest of the cores goes to those that started first")
  func shares() throws {
    let admission = Admission(cores: 4, memoryBytes: 300)
    #expect(admission.shares == [:])
    let places = (0..<3).compactMap { _ in admission.admit(memoryBytes: 100) }
    try #require(places.count == 3)
    #expect(admission.shares == [places[0]: 2, places[1]: 1, places[2]: 1])
    admission.release(places[0])
    #expect(admission.shares == [places[1]: 2, places[2]: 2])
  }

  @Test("Never more than cores, never more promised than there is, and all cores are given away")
  func random() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let cores = Int.random(in: 1...9, using: &random)
      let memory = Int64.random(in: 0...100, using: &random)
      let admission = Admission(cores: cores, memoryBytes: memory)
      var running: [Int: Int64] = [:]
      for _ in 0..<40 {
        let needed = Int64.random(in: 0...60, using: &random)
        if let place = admission.admit(memoryBytes: needed) {
          running[place] = needed
        } else {
          // Refused only with a reason.
          #expect(running.count >= cores || running.values.reduce(0, +) + needed > memory)
        }
        #expect(running.count <= cores || cores < 1)
        #expect(running.count == 1 || running.values.reduce(0, +) <= memory)
        let shares = admission.shares
        #expect(shares.keys.sorted() == running.keys.sorted())
        #expect(shares.values.allSatisfy { $0 >= 1 })
        #expect(shares.isEmpty || shares.values.reduce(0, +) == cores)
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
