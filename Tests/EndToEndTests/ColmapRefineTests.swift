import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// The commands in the README of `export-colmap`, which refine the app's poses.
@Suite("Refining poses with COLMAP", .runsPrograms, .serialized)
struct ColmapRefineTests {
  /// Whether `colmap` is a program here; asked and told once.
  private static let colmapAbsence: String = {
    let tried = try? PythonScript.run("/usr/bin/env", ["colmap", "help"], nil, nil)
    if tried?.status == 0 { return "" }
    let text =
      "colmap is not in PATH (apt-get install colmap): the commands in the README of export-colmap are not run"
    print("skipped: \(text)")
    return text
  }()

  private static let pycolmapAbsence = ReaderScript.absence(
    of: "pycolmap", for: "the commands in the README of export-colmap are not run with COLMAP 4")

  /// Eight pictures of a furnished room, three ways to write their model.
  private final class Scene {
    let folder: TemporaryFolder
    var export: FilePath { folder.path.appending("out/a/export-colmap") }

    init(_ settings: [String]) throws {
      folder = try TemporaryFolder()
      try Program.synthesize(
        """
        arkit-scanner --frames 8 --width 480 --height 360 --rate 6 --id a --noise 0.2 \
        --exposure 0
        """, to: folder.path.appending("in"))
      let run = try Program.run(
        [
          "run", folder.path.appending("in/a").string, "--output",
          folder.path.appending("out").string, "--export", "colmap",
        ] + settings.flatMap { ["--set", "export-colmap.\($0)"] })
      try #require(run.status == 0, "\(run.errors)")
    }

    /// The commands as the README shows them.
    func commands() throws -> [String] {
      let text = try export.appending("README.txt").text()
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let first = try #require(
        lines.firstIndex { $0.hasPrefix("    colmap database_creator") }, "\(text)")
      return lines[first...].prefix { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
    }
  }

  private static let settings = [[], ["intrinsics=median"], ["model=text", "points=0"]]

  @Test(
    "They work with COLMAP as installed, and ids and intrinsics stay",
    .enabled(if: colmapAbsence.isEmpty, "needs colmap"),
    .enabled(if: pycolmapAbsence.isEmpty, "needs pycolmap to read the result"),
    arguments: Rounds.some(of: settings, 1))
  func installed(_ settings: [String]) throws {
    let scene = try Scene(settings)
    // As the README says for machines without a graphics card or a display, and fewer features.
    let help = try PythonScript.run(
      "/usr/bin/env", ["colmap", "feature_extractor", "-h"], nil, nil)
    let (extraction, matching) =
      help.output.contains("FeatureExtraction.use_gpu")
      ? ("FeatureExtraction", "FeatureMatching") : ("SiftExtraction", "SiftMatching")
    let script = try scene.commands().map { command in
      command.replacing(
        "feature_extractor",
        with:
          "feature_extractor --\(extraction).use_gpu 0 --SiftExtraction.max_num_features 1000"
      ).replacing("sequential_matcher", with: "sequential_matcher --\(matching).use_gpu 0")
    }
    #expect(script.count == 7, "\(script)")
    let environment = ProcessInfo.processInfo.environment
      .merging(["QT_QPA_PLATFORM": "offscreen"]) { $1 }
    let result = try PythonScript.run(
      "/bin/sh", ["-e", "-c", script.joined(separator: "\n")], environment, scene.export)
    #expect(result.status == 0, "\(result.output.suffix(2000)) \(result.errors.suffix(2000))")
    let compared = try ReaderScript.run("refine_colmap.py", ["--compare", scene.export.string])
    print(compared.output)
    #expect(compared.status == 0, "\(compared.errors)")
  }

  @Test(
    "They work with COLMAP 4, through pycolmap",
    .enabled(if: pycolmapAbsence.isEmpty, "needs pycolmap"), arguments: settings)
  func four(_ settings: [String]) throws {
    let scene = try Scene(settings)
    #expect(try scene.commands().count == 7)
    let result = try ReaderScript.run("refine_colmap.py", [scene.export.string])
    print(result.output.lines.last ?? "")
    #expect(result.status == 0, "\(result.output.suffix(2000)) \(result.errors.suffix(2000))")
  }
}
