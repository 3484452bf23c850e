@testable import Engine
import Testing

@Suite("Reading pipeline files")
struct PipelineReaderTests {
  @Test("Stages follow what they need, otherwise the order of the file")
  func order() throws {
    let text = """
      schema: 1
      description: anything
      stages:
        tables: {uses: make-tables, optional: [depth, color]}
        depth: {uses: export-depth, needs: [frames]}
        color: {uses: make-color}
        frames: {uses: make-frames}
      """
    let definition = try pipeline(text)
    #expect(definition.name == "test.yaml")
    #expect(definition.stages.map(\.name) == ["frames", "depth", "color", "tables"])
    #expect(
      definition["tables"]?.inputs == [
        PortBinding(port: "color", stage: "color", isOptional: true),
        PortBinding(port: "depth", stage: "depth", isOptional: true),
      ])
    #expect(
      definition["depth"]?.inputs == [
        PortBinding(port: "frames", stage: "frames", isOptional: false)
      ])
    #expect(definition.ancestors(of: "tables") == ["color", "depth", "frames"])
  }

  @Test("A text that was read before has the name and the stages of the file that it is read as")
  func again() throws {
    let text = "schema: 1\nstages:\n  color: {uses: make-color}\n"
    for name in ["a.yaml", "a.yaml", "b.yaml"] {
      let definition = try PipelineReader.read(text, file: name, registry: .fakes)
      #expect(definition.name == name && definition.stages.map(\.name) == ["color"])
    }
    #expect(throws: PipelineError.self) {
      try PipelineReader.read(text, file: "a.yaml", registry: StageRegistry([]))
    }
  }

  @Test("Every key of a stage is read")
  func keys() throws {
    let text = """
      schema: 1
      stages:
        depth: {uses: export-depth, needs: {frames: inner}}
        inner:
          uses: make-frames
          partOf: depth
          keep: false
          retries: 3
          timeout: 30m
          resources: {memory: 2GB, cpus: 1024, time: 90.5s}
          with:
            range: 0.3..4m
            shifts: yes
            window: 10ms
            arguments: [one, "2", three four]
      """
    let inner = try #require(try pipeline(text)["inner"])
    #expect(inner.kind.name == "make-frames")
    #expect(inner.partOf == "depth")
    #expect(!inner.keep)
    #expect(inner.retries == 3)
    #expect(inner.timeoutNanoseconds == 1_800_000_000_000)
    #expect(inner.memoryBytes == 2_000_000_000)
    #expect(inner.cpus == 1024)
    #expect(inner.timeSeconds == 91)
    #expect(inner.parameters[MakeFrames.range] == 0.3...4)
    #expect(inner.parameters[MakeFrames.shifts])
    #expect(inner.parameters[MakeFrames.window] == 10_000_000)
    #expect(inner.parameters[MakeFrames.arguments] == ["one", "2", "three four"])
    #expect(inner.parameters[MakeFrames.mode] == .fast)
  }

  @Test("A stage without settings is kept, waits forever and is not retried")
  func defaults() throws {
    let stage = try #require(try pipeline("schema: 1\nstages: {a: {uses: make-color}}")["a"])
    #expect(stage.keep && stage.retries == 0 && stage.inputs.isEmpty && stage.partOf == nil)
    #expect(stage.timeoutNanoseconds == nil && stage.memoryBytes == nil)
    #expect(stage.cpus == nil && stage.timeSeconds == nil)
  }

  @Test("Two stages of one kind have parameters of their own")
  func twoOfAKind() throws {
    let text = """
      schema: 1
      stages:
        near: {uses: make-frames, with: {range: 0..1m}}
        far: {uses: make-frames, with: {range: 1..9m}}
        near-depth: {uses: export-depth, needs: [near]}
        far-depth: {uses: export-depth, needs: [far]}
        both: {uses: compare, needs: {left: near-depth}, optional: {right: far-depth}}
      """
    let definition = try pipeline(text)
    #expect(definition["near"]?.parameters[MakeFrames.range] == 0...1)
    #expect(definition["far"]?.parameters[MakeFrames.range] == 1...9)
    #expect(
      definition["both"]?.inputs == [
        PortBinding(port: "left", stage: "near-depth", isOptional: false),
        PortBinding(port: "right", stage: "far-depth", isOptional: true),
      ])
  }

  @Test("What is left after named inputs is found by kind")
  func mixedForms() throws {
    let text = """
      schema: 1
      stages:
        a: {uses: export-depth}
        b: {uses: export-depth}
        both: {uses: compare, needs: [b], optional: {right: a}}
      """
    #expect(
      try pipeline(text)["both"]?.inputs == [
        PortBinding(port: "left", stage: "b", isOptional: false),
        PortBinding(port: "right", stage: "a", isOptional: true),
      ])
  }

  @Test("A parameter of an inner step is set on the stage it is part of")
  func partOf() throws {
    let text = """
      schema: 1
      stages:
        frames: {uses: make-frames, partOf: depth}
        depth: {uses: export-depth, needs: [frames], with: {range: 1..2m, stream: confidence}}
      """
    let definition = try pipeline(text)
    #expect(definition["frames"]?.parameters[MakeFrames.range] == 1...2)
    #expect(definition["depth"]?.parameters[ExportDepth.stream] == .confidence)
    #expect(definition.withParts("depth") == ["depth", "frames"])
    #expect(definition.withParts("frames") == ["frames"])
  }

  @Test("Line ends of Windows and a byte order mark do no harm")
  func windows() throws {
    let text = "\u{FEFF}schema: 1\r\nstages:\r\n  a:\r\n    uses: make-color\r\n"
    #expect(try pipeline(text).stages.map(\.name) == ["a"])
  }

  @Test("Anchors may be used; what they repeat is checked like the rest")
  func anchors() throws {
    let text = """
      schema: 1
      stages:
        a: {uses: make-frames, with: &near {range: 0..1m}}
        b: {uses: make-frames, with: *near}
      """
    #expect(try pipeline(text)["b"]?.parameters[MakeFrames.range] == 0...1)
  }
}
