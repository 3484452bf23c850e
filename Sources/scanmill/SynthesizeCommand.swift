import ArgumentParser
import Core
import Engine
import Pages
import Synthetic
import SystemPackage

/// `scanmill synthesize`: creates a capture with known ground truth.
struct SynthesizeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "synthesize",
    abstract: "Make a capture of a rendered room, with the exact truth beside it.",
    discussion: """
      Writes the capture to DIR/<id> and what it should give to DIR/<id>.truth. The same options and \
      seed give the same bytes.
      """)

  @Argument(
    help: "The app family: \(SyntheticFamilies.names.joined(separator: ", ")).",
    completion: Completion.syntheticFamilies)
  var family: String

  @Option(
    name: .shortAndLong, help: "The folder that the capture's own folder is made in.",
    completion: Completion.folder)
  var output: String?

  @Option(help: "How many frames.")
  var frames: Int?

  @Option(help: "The seed of everything random.")
  var seed: UInt64 = 1

  @Option(
    parsing: .upToNextOption,
    help: "What goes wrong; several names may follow. See --list-faults.",
    completion: Completion.faults)
  var fault: [String] = []

  @Option(help: "A dated layout of the family.", completion: Completion.generations)
  var generation: String?

  @Option(help: "Columns of the stored pictures.")
  var width: Int?

  @Option(help: "Rows of the stored pictures.")
  var height: Int?

  @Option(help: "Columns of the depth frames, where the family leaves them open.")
  var depthWidth: Int?

  @Option(help: "Rows of the depth frames, where the family leaves them open.")
  var depthHeight: Int?

  @Option(help: "Frames per second.")
  var rate: Double?

  @Option(help: "Noise of all sensors: 1 = realistic, 0 = none.")
  var noise = 1.0

  @Option(help: "How long the shutter is open, in seconds or as 16ms; 0 = no motion blur.")
  var exposure = SecondsArgument(1.0 / 60)

  @Option(
    parsing: .unconditional,
    help:
      "How far the clock of the motion sensors is ahead of the pictures', in seconds or as 20ms. Refused where there are none."
  )
  var imuOffset = SecondsArgument(0)

  @Option(help: "Constant rate factor of the video, 0 (best) … 51 (smallest).")
  var quality: Int?

  @Flag(help: "Only walls, nothing standing in the room.")
  var emptyRoom = false

  @Flag(help: "Write the frame's number into the top eighth of each picture.")
  var frameCode = false

  @Option(help: "Name of the capture.")
  var id: String?

  @Option(help: "How many frames get pictures of exact depth in the truth.")
  var truthPictures = 3

  @Flag(help: "Replace a capture of the same name.")
  var replace = false

  @Flag(help: "List the generations and faults of the family and do nothing.")
  var listFaults = false

  func validate() throws {
    guard let faults = SyntheticFamilies.faults(of: family) else {
      throw ValidationError(
        "no family '\(family)'" + NearestName.suggestion(family, among: SyntheticFamilies.names)
          + "; known: \(SyntheticFamilies.names.joined(separator: ", "))")
    }
    let known = faults.map(\.name)
    for name in fault where !known.contains(name) {
      throw ValidationError(
        "no fault '\(name)' in \(family)" + NearestName.suggestion(name, among: known)
          + "; known: \(known.sorted().joined(separator: ", "))")
    }
    if let generation, let generations = SyntheticFamilies.generations(of: family),
      !generations.contains(generation)
    {
      throw ValidationError(
        "no generation '\(generation)' in \(family); known: \(generations.joined(separator: ", "))")
    }
    if output == nil, !listFaults {
      throw ValidationError("give the folder to write to with --output DIR")
    }
  }

  func run() throws {
    guard !listFaults else {
      Console.print(faultList)
      return
    }
    try Toolbox.checkLibraries()
    let progress = SearchProgress(
      isShown: Console.isErrorTerminal, afterSeconds: 2,
      nowSeconds: RunClock.system.monotonicSeconds,
      write: Console.progress)
    defer { progress.clear() }
    do {
      var options = options
      options.progress = { progress.step("rendering frames", $0, of: $1) }
      let capture = try SyntheticFamilies.write(family, options)
      progress.clear()
      Console.print("\(capture.folder)")
      Console.print("\(capture.truth)")
    } catch let error as SynthesisError {
      throw ValidationError(error.description)
    }
  }

  private var options: SynthesisOptions {
    var options = SynthesisOptions(output: FilePath(text: output ?? "."))
    options.seed = seed
    options.generation = generation
    options.faults = fault
    options.frames = frames
    options.roomIsEmpty = emptyRoom
    options.rate = rate
    options.width = width
    options.height = height
    options.depthWidth = depthWidth
    options.depthHeight = depthHeight
    options.noise = noise
    options.imuOffsetSeconds = imuOffset.seconds
    options.exposureSeconds = exposure.seconds
    options.quality = quality
    options.showsFrameCode = frameCode
    options.id = id
    options.truthPictures = truthPictures
    options.mayReplace = replace
    return options
  }

  private var faultList: String {
    let faults = SyntheticFamilies.faults(of: family) ?? []
    let width = faults.map(\.name.count).max() ?? 0
    let lines = faults.map { fault in
      fault.name + String(repeating: " ", count: width + 2 - fault.name.count) + fault.summary
    }
    let generations = SyntheticFamilies.generations(of: family) ?? []
    return """
      \(family): \(SyntheticFamilies.about(family) ?? "")
      generations: \(generations.joined(separator: ", "))
      faults:
      \(lines.map { "  " + $0 }.joined(separator: "\n"))
      """
  }
}

/// A short time on the command line: a number of seconds (`0.0167`) or a duration with its unit (`16ms`), also negative.
struct SecondsArgument: ExpressibleByArgument {
  var seconds: Double

  init(_ seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    if let number = Double(argument) {
      guard number.isFinite else { return nil }
      seconds = number
      return
    }
    let isNegative = argument.hasPrefix("-")
    guard let size = DurationSyntax.nanoseconds(String(argument.dropFirst(isNegative ? 1 : 0)))
    else {
      return nil
    }
    seconds = (isNegative ? -1 : 1) * Double(size) / 1e9
  }

  /// At most four decimals: `0.0167`.
  var defaultValueDescription: String {
    let rounded = (seconds * 10_000).rounded() / 10_000
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
