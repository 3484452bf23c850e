import ArgumentParser
import Captures
import Core
import Dispatch
import Engine
import Receiving
import Synchronization
import SystemPackage
import Glibc

/// The program behind `scanmill receive`.
@main
struct ScanmillReceive: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill receive", abstract: ReceiveArguments.abstract,
    discussion: ReceiveArguments.discussion)

  static var _errorPrefix: String { "error: " }

  @OptionGroup var arguments: ReceiveArguments

  /// Bytes that are read before the first connection, which takes seconds; an old staging folder holds far more.
  private static let readAtStart: Int64 = 512 << 20

  /// A program writes errors of the command line with 64.
  static func main() async {
    do {
      let command = try parse(Array(ProgramStart.arguments.dropFirst()))
      let code = await command.served()
      ErrorOutput.standard.flush()
      Glibc.exit(code)
    } catch {
      Self.exit(withError: error)
    }
  }

  func run() async throws {}

  /// Serves until a signal; the exit code.
  private func served() async -> Int32 {
    let options: ReceiveOptions
    do throws(ValidationError) {
      options = try ReceiveOptions(arguments, socket: InheritedSocket.fromEnvironment())
    } catch {
      return Self.fail(64, error.message)
    }
    ProgramStart.prepare()
    let signals = SignalStream([SIGINT, SIGTERM, SIGHUP])
    let log = ReceiveLog(isJSON: arguments.logFormat == .json)
    let store: UploadStore
    do throws(FileError) {
      store = try UploadStore(
        at: FilePath(text: arguments.staging), limits: options.limits, log: { log.note($0) })
    } catch {
      guard error.kind == .locked else { return Self.fail(73, error.description) }
      return Self.fail(
        75, "\(arguments.staging): another receiver has it (\(error.reason)); end that one first")
    }
    // After a kill, the manifests tell what is there before anybody asks.
    store.enterUnlisted(reading: Self.readAtStart)
    let states = arguments.output.map { OutputStates(FilePath(text: $0), staging: store.path) }
    let receiver = Receiver(
      store, settings: options.settings, tokens: options.tokens, states: states,
      onRecord: { [quiet = arguments.quiet] in if !quiet || $0.status >= 500 { log.record($0) } })
    let port: Int
    do throws(Receiver.ListenError) {
      port = try await receiver.start()
    } catch {
      store.close()
      if error.isInUse {
        return Self.fail(
          75,
          "\(options.settings.host):\(options.settings.port): the address is in use; choose another with --listen"
        )
      }
      return Self.fail(64, error.description)
    }
    let host =
      options.settings.host.contains(":") ? "[\(options.settings.host)]" : options.settings.host
    if !arguments.quiet {
      print("listening on http://\(host):\(port)/")
      fflush(nil)
    }
    // Folders that were not read before the port opened are read on a thread of their own.
    let isEnding = Atomic(false)
    // Without a lower priority: a thread of the pool that had one cannot get its own back without privileges.
    let entering = DispatchQueue(label: "entering")
    let upkeep = DispatchSource.makeTimerSource(queue: entering)
    upkeep.schedule(deadline: .now() + 600, repeating: 600)
    upkeep.setEventHandler { store.removeExpired() }
    upkeep.resume()
    entering.async { store.enterUnlisted { isEnding.load(ordering: .relaxed) } }
    let code = await wait(signals, receiver, log)
    isEnding.store(true, ordering: .relaxed)
    upkeep.cancel()
    await receiver.end()
    store.close()
    return code
  }

  private func wait(_ signals: SignalStream, _ receiver: Receiver, _ log: ReceiveLog) async -> Int32
  {
    for await number in signals.numbers {
      guard number == SIGHUP else { return 128 + number }
      guard let tokenFile = arguments.tokenFile else { continue }
      do throws(ValidationError) {
        receiver.replaceTokens(try ReceiveOptions.tokens(at: tokenFile))
        log.note("read \(tokenFile) again")
      } catch {
        log.note("\(error); the earlier tokens stay")
      }
    }
    return 143
  }

  private static func fail(_ code: Int32, _ message: String) -> Int32 {
    ReceiveLog.write("error: \(message)\n")
    return code
  }
}

/// Signals as they come, instead of what they would do by themselves.
final class SignalStream: Sendable {
  let numbers: AsyncStream<Int32>
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init(_ list: [Int32]) {
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    numbers = stream
    sources = list.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }
}

/// Lines on the error output: one per request, and notes.
struct ReceiveLog {
  private let isJSON: Bool

  init(isJSON: Bool) {
    self.isJSON = isJSON
    ErrorOutput.standard.tellDropped { Self.note(ErrorOutput.dropped($0), isJSON: isJSON) }
  }

  func record(_ record: RequestRecord) { Self.write((isJSON ? record.json : record.text) + "\n") }

  func note(_ text: String) { Self.write(Self.note(text, isJSON: isJSON)) }

  static func write(_ text: String) { ErrorOutput.standard.write(Array(text.utf8)) }

  /// A whole line.
  private static func note(_ text: String, isJSON: Bool) -> String {
    guard isJSON else { return "note: \(text.onOneLine)\n" }
    var record = RequestRecord.note(text.onOneLine)
    record.time = UTCText.text(milliseconds: FileStamp.nowNanoseconds() / 1_000_000)
    return record.json + "\n"
  }
}

/// What `watch` tells in its output folder about captures of STAGING. An output is that of the capture in its owner
/// record, whatever its name: two folders of STAGING may have names that become one in the output.
final class OutputStates: CaptureStates {
  private let output: FilePath
  /// Without links, as places are recorded.
  private let staging: FilePath
  /// Owners of outputs, by their names, as long as the owner record is the same file.
  private let owners = Mutex<[String: (stamp: FileStamp, place: Place?)]>([:])

  init(_ output: FilePath, staging: FilePath) {
    self.output = output
    self.staging = PathSafety.resolved(staging) ?? staging
  }

  /// A place in STAGING: its folder, and how far what lies there is the whole of it (0: the capture of that folder, 1: one of
  /// several in it, 2: one inside).
  private typealias Place = (folder: String, rank: Int)

  func states(of folders: [String]) -> [String: WatchedState] {
    let waiting = Self.wholest(
      (WatchRecord(ofOutput: output)?.waiting ?? []).map { (place($0.path, $0.stem), $0) })
    let outputs = outputs()
    var states: [String: WatchedState] = [:]
    for folder in folders {
      let name = outputs[folder]
      let hasReport = name.map(hasReport) ?? false
      if let entry = waiting[folder] {
        states[folder] = WatchedState(
          state: entry.state.rawValue,
          note: entry.failure?.message ?? entry.waitsFor.map { "waits for \($0)" } ?? "",
          hasReport: hasReport)
      } else if let name, hasReport {
        states[folder] = ended(OutputLayout(root: output, name: name))
      }
    }
    return states
  }

  /// How a capture that waits for nothing stands, by the notes in its output.
  private func ended(_ layout: OutputLayout) -> WatchedState {
    let triage = Failure(triageOf: layout)
    let stages = (try? FileSystem.names(in: layout.failedRoot)) ?? []
    guard let failure = triage ?? stages.lazy.compactMap({ Failure(of: $0, layout) }).first
    else { return WatchedState(state: CaptureState.done.rawValue, hasReport: true) }
    let state = triage?.isQuarantined == true ? CaptureState.quarantined : .failed
    return WatchedState(state: state.rawValue, note: failure.message ?? "", hasReport: true)
  }

  func report(of folder: String) -> [UInt8]? {
    outputs()[folder].flatMap { name in
      HeldFolder.contents(
        of: output.appending(name: name).appending(Self.report), below: output, limit: 16 << 20)
    }
  }

  private static let report = "report.html"

  private func hasReport(_ name: String) -> Bool {
    HeldFolder(output)?.below(name)?.stamp(of: Self.report) != nil
  }

  private func place(_ path: String, _ stem: String?) -> Place? {
    var rest = FilePath(text: path)
    guard rest.removePrefix(staging), let first = rest.components.first,
      let folder = FilePath(root: nil, [first]).name
    else { return nil }
    let isOwn = stem.map { $0.utf8.elementsEqual(folder.utf8) } ?? true
    return (folder, rest.components.count > 1 ? 2 : isOwn ? 0 : 1)
  }

  /// Names of outputs by the folders of STAGING to which they belong. Cost: a look at the owner record of each output,
  /// which is read once.
  private func outputs() -> [String: String] {
    let known = owners.withLock { $0 }
    var current: [String: (stamp: FileStamp, place: Place?)] = [:]
    // If the output cannot be listed, the known names stay.
    guard let layouts = try? OutputCatalog.candidates(in: output) else { return Self.names(known) }
    for layout in layouts {
      guard let stamp = FileStamp(of: layout.owner) else { continue }
      current[layout.name] =
        if let old = known[layout.name], old.stamp == stamp { old } else {
          (stamp: stamp, place: OwnerRecord(in: layout).flatMap { place($0.folder, $0.stem) })
        }
    }
    owners.withLock { [current] in $0 = current }
    return Self.names(current)
  }

  private static func names(
    _ owners: [String: (stamp: FileStamp, place: Place?)]
  ) -> [String: String] {
    wholest(owners.sorted { $0.key < $1.key }.map { ($0.value.place, $0.key) })
  }

  /// By folder the first of those that are most of what lies there.
  private static func wholest<Value>(_ list: [(place: Place?, value: Value)]) -> [String: Value] {
    var found: [String: (rank: Int, value: Value)] = [:]
    for case (let place?, let value) in list
    where found[place.folder].map({ place.rank < $0.rank }) ?? true {
      found[place.folder] = (place.rank, value)
    }
    return found.mapValues(\.value)
  }
}
