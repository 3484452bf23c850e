import ArgumentParser
import Core
import Engine
import Media
import Pages
import Synthetic
import SystemPackage
import Glibc

/// The program behind `scanmill synthesize`: makes captures with known truth.
@main
struct ScanmillSynthesize: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill synthesize", abstract: SynthesizeArguments.abstract,
    discussion: SynthesizeArguments.discussion)

  static var _errorPrefix: String { "error: " }

  @OptionGroup var arguments: SynthesizeArguments

  static func main() {
    ProgramStart.prepare()
    do {
      try parse(Array(ProgramStart.arguments.dropFirst())).run()
    } catch let error as Failed {
      end(error.code, error.text)
    } catch let error as FileError {
      end(FailureClassifier.failure(error).exit, error.description)
    } catch {
      exit(withError: error)
    }
  }

  private static func end(_ code: Int, _ text: String) -> Never {
    say("error: " + text.shown + "\n")
    ErrorOutput.standard.flush()
    Glibc.exit(Int32(code))
  }

  /// An error with its exit code.
  private struct Failed: Error {
    var text: String
    var code: Int
  }

  func validate() throws {
    let family = arguments.family
    guard let faults = SyntheticFamilies.faults(of: family) else {
      throw ValidationError(
        "no family '\(family)'" + NearestName.suggestion(family, among: SyntheticFamilies.names)
          + "; known: \(SyntheticFamilies.names.joined(separator: ", "))")
    }
    let known = faults.map(\.name)
    for name in arguments.fault where !known.contains(name) {
      throw ValidationError(
        "no fault '\(name)' in \(family)" + NearestName.suggestion(name, among: known)
          + "; known: \(known.sorted().joined(separator: ", "))")
    }
    if let generation = arguments.generation,
      let generations = SyntheticFamilies.generations(of: family),
      !generations.contains(generation)
    {
      throw ValidationError(
        "no generation '\(generation)' in \(family); known: \(generations.joined(separator: ", "))")
    }
    if arguments.output == nil, !arguments.listFaults {
      throw ValidationError("give the folder to write to with --output DIR")
    }
  }

  func run() throws {
    guard !arguments.listFaults else { return try Self.tell(faultList) }
    if let problem = FFmpegLibraries.obviousProblem {
      throw Failed(
        text: problem, code: FailureTable.failure(.ourselves, .noSuchFileOrDirectory).exit)
    }
    let progress = SearchProgress(
      isShown: isatty(2) == 1, afterSeconds: 2,
      nowSeconds: RunClock.system.monotonicSeconds, write: Self.say)
    defer { progress.clear() }
    do {
      var options = options
      options.progress = { progress.step("rendering frames", $0, of: $1) }
      let capture = try SyntheticFamilies.write(arguments.family, options)
      progress.clear()
      try Self.tell("\(capture.folder)\n\(capture.truth)")
    } catch let error as SynthesisError {
      throw ValidationError(error.description)
    }
  }

  private static func tell(_ text: String) throws {
    print(text.shown)
    if fflush(nil) != 0, errno != EPIPE {
      throw Failed(
        text: "standard output: \(Errno(rawValue: errno)): the result is not complete there",
        code: ExitStatus.cannotWrite)
    }
  }

  private static func say(_ text: String) { ErrorOutput.standard.write(Array(text.utf8)) }

  private var options: SynthesisOptions {
    var options = SynthesisOptions(output: FilePath(text: arguments.output ?? "."))
    options.seed = arguments.seed
    options.generation = arguments.generation
    options.faults = arguments.fault
    options.frames = arguments.frames
    options.roomIsEmpty = arguments.emptyRoom
    options.rate = arguments.rate
    options.width = arguments.width
    options.height = arguments.height
    options.depthWidth = arguments.depthWidth
    options.depthHeight = arguments.depthHeight
    options.noise = arguments.noise
    options.imuOffsetSeconds = arguments.imuOffset.seconds
    options.exposureSeconds = arguments.exposure.seconds
    options.quality = arguments.quality
    options.showsFrameCode = arguments.frameCode
    options.id = arguments.id
    options.truthPictures = arguments.truthPictures
    options.mayReplace = arguments.replace
    return options
  }

  private var faultList: String {
    let faults = SyntheticFamilies.faults(of: arguments.family) ?? []
    let width = faults.map(\.name.count).max() ?? 0
    let lines = faults.map { fault in
      fault.name + String(repeating: " ", count: width + 2 - fault.name.count) + fault.summary
    }
    let generations = SyntheticFamilies.generations(of: arguments.family) ?? []
    return """
      \(arguments.family): \(SyntheticFamilies.about(arguments.family) ?? "")
      generations: \(generations.joined(separator: ", "))
      faults:
      \(lines.map { "  " + $0 }.joined(separator: "\n"))
      """
  }
}
