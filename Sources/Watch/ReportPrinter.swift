import FoundationEssentials
import Engine
import Core
import SystemPackage

/// Has pages and JSON made by a process of this very program: what that needs of memory and time, and how
/// it fails, is no matter of the watcher.
struct ReportPrinter {
  let program: FilePath
  let output: FilePath
  var limits = LifeWatch.Limits(ProcessOrder.currentEnvironment)
  /// How many pages of earlier nights stay.
  var keptNights = 0
  /// Asked about twenty times a second; `false` ends what goes on.
  var keepWaiting: @Sendable () -> Bool = { true }

  /// Writes the pages. What went wrong, for people; `nil`: nothing.
  ///
  /// - Parameter ofNightOnly: those of captures stay as they are.
  func pages(
    sinceSeconds: Int?, limitSeconds: Double = 3600, ofNightOnly: Bool = false
  ) -> String? {
    run(
      ["report", output.text, "--format", "html", "--keep-nights", "\(keptNights)"]
        + (ofNightOnly ? ["--night-page-only"] : []), sinceSeconds, limitSeconds: limitSeconds
    ).problem
  }

  /// The report as JSON.
  func json(
    sinceSeconds: Int?, limitSeconds: Double = 600
  ) -> (bytes: [UInt8], problem: String?) {
    run(["report", output.text, "--format", "json"], sinceSeconds, limitSeconds: limitSeconds)
  }

  /// How the captures of the output stand that have a folder in it; `nil`: it cannot be read.
  func outputCounts() -> [String: OutputCounts.Member]? {
    struct Status: Decodable {
      struct Capture: Decodable {
        var id: String
        var state: CaptureState
        var needsPerson: Bool
        var pipeline: String?
        var mark: CaptureMark?
      }
      var captures: [Capture]
    }
    let (bytes, problem) = run(["status", output.text, "--json"], nil, limitSeconds: 600)
    guard problem == nil, let status = try? Status(json: bytes)
    else { return nil }
    return Dictionary(
      firstOf: status.captures.filter { $0.pipeline != nil }.map {
        ($0.id, OutputCounts.Member(state: $0.state, needsPerson: $0.needsPerson, mark: $0.mark))
      })
  }

  /// Runs the printer; one that does not get on is killed, and tried once more.
  private func run(
    _ words: [String], _ sinceSeconds: Int?, limitSeconds: Double
  ) -> (bytes: [UInt8], problem: String?) {
    let first = runOnce(words, sinceSeconds, limitSeconds: limitSeconds)
    guard first.isStuck else { return (first.bytes, first.problem) }
    let second = runOnce(words, sinceSeconds, limitSeconds: limitSeconds)
    return (second.bytes, second.problem)
  }

  private typealias Outcome = (bytes: [UInt8], problem: String?, isStuck: Bool)

  private func runOnce(
    _ words: [String], _ sinceSeconds: Int?, limitSeconds: Double
  ) -> Outcome {
    let files = [try? MemoryFile.of([]), try? MemoryFile.of([])].compactMap(\.self)
    defer { for file in files { try? file.close() } }
    guard let result = files.first, let errors = files.dropFirst().first else {
      return ([], "no memory for a report", false)
    }
    var order = ProcessOrder(
      program.text,
      words + (sinceSeconds.map { ["--since", "\($0)s"] } ?? []))
    order.environment = SystemdNotifier.withoutVariables(ProcessOrder.currentEnvironment)
    order.output = result
    order.error = errors
    order.hasOwnGroup = true
    order.diesWithStarter = true
    do {
      let child = try ChildProcess(order)
      let start = MonotonicClock.seconds()
      var watch = LifeWatch(limits, atSeconds: start)
      // Where its threads stand is told before it is killed.
      var stacks: String?
      let end = child.wait(pauseMilliseconds: 50) { seconds -> String? in
        let verdict = watch.look(
          atSeconds: start + seconds, stallSeconds: Self.stallSeconds, readsAndFaultsCount: true,
          signs: { ProcessSigns(of: child.id) })
        if let verdict {
          stacks = ThreadStacks.text(of: child.id) { Int64(MemoryFile.contents(errors).count) }
          return verdict.phrase
        }
        if seconds > limitSeconds { return "took longer than \(Int(limitSeconds)) s" }
        return keepWaiting() ? nil : "was stopped because the watcher is ending"
      }
      switch end {
      case .ended(let end):
        var said = String(decoding: MemoryFile.contents(errors), as: UTF8.self)
        while said.last?.isNewline == true { said.removeLast() }
        let problem = end.isSuccess ? nil : "the report \(end.phrase): \(said.suffix(2000))"
        return (MemoryFile.contents(result), problem, false)
      case .killed(let reason):
        guard let stacks else { return ([], "the report \(reason)", false) }
        let text = stacks + String(decoding: MemoryFile.contents(errors), as: UTF8.self)
        let problem =
          "the report \(reason), and was killed: an error in this program, please report it; "
          + "its threads stood here:\n\(text.prefix(6000))"
        return ([], problem, true)
      }
    } catch {
      return ([], "\(error)", false)
    }
  }

  /// The time without a byte read and without memory that was not used before.
  private static let stallSeconds = 600.0
}
