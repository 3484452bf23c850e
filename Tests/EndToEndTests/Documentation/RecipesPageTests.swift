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
      let names = (try? FileManager.default.contentsOfDirectory(atPath: root.string)) ?? []
      return names.count {
        FileManager.default.fileExists(atPath: root.appending($0).appending(table).string)
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
