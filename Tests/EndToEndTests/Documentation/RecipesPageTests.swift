import Core
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The page of recipes", .runsPrograms)
struct RecipesPageTests {
  private static let page = Fixtures.projectRoot.appending("docs/recipes.md").string

  /// The blocks of code in a language, in order.
  private static func blocks(_ language: String) throws -> [String] {
    let text = try FilePath(page).text()
    return text.components(separatedBy: "\n```").enumerated().compactMap { index, block in
      guard index % 2 == 1, block.hasPrefix(language + "\n") else { return nil }
      return String(block.dropFirst(language.count + 1)) + "\n"
    }
  }

  /// A folder with `sample-data` in it, and programs that find `scanmill`.
  private struct Place {
    let folder: TemporaryFolder
    let environment: [String: String]

    init() throws {
      folder = try TemporaryFolder()
      try folder.path.appending("sample-data").link(
        to: Fixtures.projectRoot.appending("sample-data").string)
      var environment = ProcessInfo.processInfo.environment
      let path = environment["PATH"] ?? "/usr/bin:/bin"
      environment["PATH"] = "\(Program.path.removingLastComponent()):\(path)"
      environment["XDG_CACHE_HOME"] = folder.path.appending("cache").string
      self.environment = environment
    }

    func run(_ program: String, _ words: [String]) throws -> PythonScript.Result {
      try PythonScript.run(program, words, environment, folder.path)
    }

    func write(_ text: String, as name: String) throws -> String {
      let file = folder.path.appending(name).string
      try FilePath(file).write(text)
      return file
    }

    /// Captures of an output that have IMU tables: those of three families.
    func captures(with table: String, in output: String) -> Int {
      let root = folder.path.appending(output)
      let names = (try? FileSystem.names(in: root)) ?? []
      return names.count {
        FileSystem.exists(root.appending($0).appending(table))
      }
    }
  }

  static let absence = ReaderScript.absence(
    of: "numpy, pandas, cv2", for: "no recipe in Python is run")

  @Test(
    "Its Python loads the sample captures, and two frames agree in the world",
    .enabled(if: absence.isEmpty, "needs .build/readers"))
  func python() throws {
    let place = try Place()
    // The captures that it is about; the others take most of the time.
    let run = ["run", "sample-data", "--output", "out", "--exclude", "2*", "--exclude", "7*"]
    try Program.run(run, in: place.folder.path).succeeds()
    let script = Fixtures.projectRoot.appending("Tests/Readers/blocks.py").string
    for page in ["recipes", "reference/json"] {
      let text = Fixtures.projectRoot.appending("docs/\(page).md").string
      // Paths on the pages are those of the project.
      try? place.folder.path.appending("docs").link(
        to: Fixtures.projectRoot.appending("docs").string)
      let result = try place.run(ReaderScript.python, [script, text])
      print(result.output)
      #expect(result.status == 0, "\(page): \(result.output) \(result.errors)")
    }
  }

  /// Writes into the header of a movie's only track that its pictures are to be turned by 90° clockwise.
  private static func turn(_ movie: FilePath, height: UInt8...) throws {
    var bytes = [UInt8](try movie.data())
    let name = try #require(bytes.firstRange(of: Array("tkhd".utf8)))
    try #require(bytes[name.upperBound] == 0, "version 0 of the box")
    // Behind version, times, number, length, layer and volume: a b u c d v x y w, 16.16 and 2.30.
    let matrix = name.upperBound + 40
    let values: [[UInt8]] = [
      [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [255, 255, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0],
      height + [0, 0], [0, 0, 0, 0], [64, 0, 0, 0],
    ]
    bytes.replaceSubrange(matrix..<(matrix + 36), with: values.joined())
    try movie.write(bytes)
  }

  @Test(
    "Where the video is turned, picture, depth, intrinsics and pose belong together all the same",
    .enabled(if: absence.isEmpty, "needs .build/readers"))
  func turned() throws {
    let place = try Place()
    let input = place.folder.path.appending("in")
    try FileManager.default.createDirectory(
      atPath: input.string, withIntermediateDirectories: false)
    let capture = input.appending("turned")
    try Fixtures.projectRoot.appending("sample-data/lab 101 2026-02-09 11-33-00").copy(to: capture)
    try Self.turn(capture.appending("rgb.mp4"), height: 2, 208)  // 720
    try Program.run(
      "run in --output out --until aligned --until tables", in: place.folder.path
    ).succeeds()
    let document = try place.folder.path.appending("out/turned/capture.json").text()
    #expect(document.contains(#""clockwiseQuarterTurns" : 1"#))
    // The recipes up to the one that compares two frames, for this capture.
    let text = try FilePath(Self.page).text()
      .components(separatedBy: "## Color and IMU together")[0]
      .replacing("out/lab-101-2026-02-09-11-33-00", with: "out/turned")
    let page = try place.write(text, as: "page.md")
    let script = Fixtures.projectRoot.appending("Tests/Readers/blocks.py").string
    let result = try place.run(ReaderScript.python, [script, page])
    #expect(result.status == 0, "\(result.output) \(result.errors)")
    #expect(result.output.contains("4 blocks ran, 0 skipped, 0 failed"), "\(result.output)")
  }

  @Test("Its shell runs one stage of every capture")
  func shell() throws {
    let place = try Place()
    let blocks = try Self.blocks("sh")
    #expect(blocks.count == 3)
    // The first one makes the output that the Python is about.
    let file = try place.write(blocks.dropFirst().joined(), as: "loop.sh")
    let result = try place.run("/bin/sh", ["-e", file]).succeeds()
    #expect(result.errors.contains("nothing to do"), "\(result.errors)")
    #expect(place.captures(with: "imu/imu.csv", in: "out-loop") == 3)
    // Those of the families that record no motion.
    let rest = try place.folder.path.appending("not-made.txt").text()
    #expect(rest.lines.count == 2, "\(rest)")
  }

  @Test(
    "Its makefile runs one stage of every capture",
    .enabled(if: WorkflowTests.program("make", "apt-get install make") != nil, "needs make"),
    .enabled(if: WorkflowTests.program("jq", "apt-get install jq") != nil, "needs jq"))
  func make() throws {
    let place = try Place()
    let file = try place.write(try Self.blocks("make").joined(), as: "captures.mk")
    try place.run("/usr/bin/env", ["make", "-f", file, "-j2"]).succeeds()
    #expect(place.captures(with: "imu/imu.csv", in: "out-make") == 3)
  }

  @Test(
    "Its Snakefile runs one stage of every capture",
    .enabled(if: WorkflowTests.snakemake != nil, "needs snakemake"))
  func snakemake() throws {
    let place = try Place()
    let file = try place.write(try Self.blocks("snakemake").joined(), as: "captures.smk")
    let words = ["-s", file, "--cores", "2"]
    try place.run(try #require(WorkflowTests.snakemake), words).succeeds()
    #expect(place.captures(with: "imu/imu.csv", in: "out-snake") == 3)
  }
}

@Suite("The page of calibrations", .runsPrograms)
struct CalibrationPageTests {
  /// A block of code and the file that the line above it names.
  private struct Block {
    var language: String
    var file: String?
    var text: String
  }

  private static func blocks() throws -> [Block] {
    let page = Fixtures.projectRoot.appending("docs/calibration.md")
    let parts = try page.text().components(separatedBy: "\n```")
    return parts.indices.filter { $0 % 2 == 1 }.map { index in
      let lines = parts[index].split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let above = parts[index - 1].lines.last.map(String.init) ?? ""
      let file = above.wholeMatch(of: /`([a-z]+\.[a-z]+)`:/).map { String($0.output.1) }
      return Block(
        language: String(lines[0]), file: file,
        text: (lines.count > 1 ? String(lines[1]) : "") + "\n")
    }
  }

  /// A folder with `sample-data` and the files of the page in it.
  private static func place() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.path.appending("sample-data").link(
      to: Fixtures.projectRoot.appending("sample-data").string)
    for block in try blocks() {
      guard let file = block.file else { continue }
      try folder.path.appending(file).write(block.text)
    }
    return folder
  }

  private static let scan =
    "sample-data/2026-11-23_09-55-14__A8ECBA23-EFA8-4B99-A459-A1949DC76E26"

  private static func alignment(
    _ file: String, _ capture: String, _ folder: FilePath
  ) throws -> [String: Any] {
    let result = try Program.run(
      "inspect \(capture) --quick --calibration \(file) --json", in: folder)
    #expect(result.status == 0, "\(file): \(result.errors)")
    let used = try result.json().object("calibrationInForce")
    return try used.object("alignment")
  }

  /// Equal objects have equal texts.
  private static func text(_ object: [String: Any]) throws -> String {
    String(
      decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys),
      as: UTF8.self)
  }

  @Test("Every block that is no command is a file that the line above it names")
  func named() throws {
    let blocks = try Self.blocks()
    let files = blocks.filter { $0.language != "sh" }
    #expect(files.map(\.file) == ["lab.json", "shared.json", "lab.txt", "camchain.yaml"])
    #expect(blocks.count { $0.language == "sh" } == 3)
  }

  @Test("The three forms on it are one and the same calibration")
  func same() throws {
    let folder = try Self.place()
    let json = try Self.alignment("lab.json", Self.scan, folder.path)
    #expect(json["registered"] as? Bool == false)
    for file in ["lab.txt", "camchain.yaml"] {
      let other = try Self.alignment(file, Self.scan, folder.path)
      #expect(try Self.text(other) == Self.text(json), "\(file)")
    }
    let color = try #require(json["distortion", "color"] as? [String: Double])
    #expect(color["k2"] == -0.001 && color["p1"] == 0.0002 && color["k3"] == 0.0005)
  }

  @Test("Its file for one shared camera is one for the sample capture that has one")
  func shared() throws {
    let folder = try Self.place()
    let used = try Self.alignment(
      "shared.json", "sample-data/lab 101 2026-02-09 11-33-00", folder.path)
    #expect(used["registered"] as? Bool == true)
  }

  @Test(
    "Its commands work one after the other, and the last run finds everything as the first left it")
  func commands() throws {
    let folder = try Self.place()
    let script = try Self.blocks().filter { $0.language == "sh" }.map(\.text).joined()
    let file = folder.path.appending("page.sh").string
    try FilePath(file).write(script)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let environment = ProcessInfo.processInfo.environment.merging(
      ["PATH": "\(Program.path.removingLastComponent()):\(path)"]
    ) { $1 }
    let result = try PythonScript.run("/bin/sh", ["-e", file], environment, folder.path).succeeds()
    #expect(result.output.contains("chosen by device A8ECBA23"), "\(result.output)")
    let look = folder.path.appending("look.png").string
    #expect(FileManager.default.fileExists(atPath: look))
  }

  /// Each line of the table of what is refused that shows a message.
  @Test(
    "What it says is refused is refused, with the words that it shows",
    arguments: [
      (
        "\"colorFromDepth\"", "\"other\"",
        "lab.json: colorFromDepth: is missing: add the 4×4 matrix"
      ),
      ("0.999973", "0.5", "colorFromDepth = ["),
      (
        "0, 0, 0, 1\n", "0, 0, 1, 1\n",
        "must have the last row 0 0 0 1: write the matrix row by row"
      ),
      ("\"fx\": 571.6", "\"fx\": 0", "depthIntrinsics.fx = 0.0: must be above 0 and finite"),
      ("\"width\": 640", "\"width\": 16385", "must be 1 to 16384 pixels"),
      ("\"k1\"", "\"k7\"", "distortion.color.k7: is not a lens coefficient"),
      (
        "\"fx\": 571.6", "\"k1\": 0, \"fx\": 571.6",
        "write lens coefficients below distortion.depth"
      ),
      (
        "\"schema\"", "\"depthDistortion\": {}, \"schema\"",
        "depthDistortion: is not a key of a calibration"
      ),
    ])
  func refused(part: String, replacement: String, message: String) throws {
    let folder = try Self.place()
    let text = try #require(try Self.blocks().first { $0.file == "lab.json" }).text
    try #require(text.contains(part))
    let changed = text.replacing(part, with: replacement, maxReplacements: 1)
    try folder.path.appending("lab.json").write(changed)
    let words = ["run", Self.scan, "-o", "out", "--set", "aligned.calibration=lab.json", "-n"]
    let result = try Program.run(words, in: folder.path)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("error: aligned.calibration: lab.json: "), "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }
}

/// Scripts of `Tests/Readers` and blocks of documentation, by the Python of the readers.
enum ReaderScript {
  static let python = Fixtures.projectRoot.appending(".build/readers/bin/python").string

  /// Why the modules cannot be used; empty: they can. Printed each time it is asked.
  static func absence(of modules: String, for what: String) -> String {
    guard Readers.arePresent else { return "needs .build/readers" }
    // Whether they are there, without loading them, which takes seconds.
    let look =
      "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))"
    let names = modules.components(separatedBy: ", ")
    let tried = try? PythonScript.run(python, ["-c", look] + names, nil, nil)
    if tried?.status == 0 { return "" }
    let text = "\(modules) is not in .build/readers (make setup-test): \(what)"
    print("skipped: \(text)")
    return text
  }

  static func run(_ name: String, _ words: [String]) throws -> PythonScript.Result {
    let file = Fixtures.projectRoot.appending("Tests/Readers").appending(name).string
    return try PythonScript.run(python, [file] + words, nil, nil)
  }
}
