import ArgumentParser
import Dispatch
import Core
import Receiving
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The program behind `scanmill receive`.
@main
struct ScanmillReceive: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill receive", abstract: ReceiveArguments.abstract,
    discussion: ReceiveArguments.discussion)

  static var _errorPrefix: String { "error: " }

  @OptionGroup var arguments: ReceiveArguments

  /// Seconds of work before the first connection; an old staging folder holds far more.
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
    do throws(ReceiveOptions.OptionError) {
      let socket: InheritedSocket?
      do throws(InheritedSocket.SocketError) {
        socket = try InheritedSocket.fromEnvironment()
      } catch {
        throw ReceiveOptions.OptionError(error.description)
      }
      options = try ReceiveOptions(arguments, socket: socket)
    } catch {
      return Self.fail(64, error.description)
    }
    ProgramStart.prepare()
    let signals = SignalStream([SIGINT, SIGTERM, SIGHUP])
    let log = ReceiveLog(isJSON: arguments.logFormat == .json)
    let store: UploadStore
    do throws(UploadStore.OpenError) {
      store = try UploadStore(
        at: FilePath(text: arguments.staging), limits: options.limits, log: { log.note($0) })
    } catch {
      switch error {
      case .inUse(let holder):
        return Self.fail(
          75, "\(arguments.staging): another receiver has it (\(holder)); end that one first")
      case .file(let error): return Self.fail(73, error.description)
      }
    }
    // After a kill, the manifests tell what is there before anybody asks.
    store.enterUnlisted(reading: Self.readAtStart)
    let states: any CaptureStates =
      arguments.output.map { OutputStates(FilePath(text: $0), staging: store.path) }
      ?? NoCaptureStates()
    let receiver = Receiver(
      store, settings: options.settings, tokens: options.tokens, states: states,
      onRecord: { log.record($0) })
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
    print("listening on http://\(host):\(port)/")
    fflush(nil)
    // What does not fit into the moment before is read beside the work, on a thread of its own.
    let isEnding = Flag()
    // Without a lower priority: a thread of the pool that had one cannot get its own back without privileges.
    let entering = DispatchQueue(label: "entering")
    let upkeep = DispatchSource.makeTimerSource(queue: entering)
    upkeep.schedule(deadline: .now() + 600, repeating: 600)
    upkeep.setEventHandler { store.removeExpired() }
    upkeep.resume()
    entering.async { store.enterUnlisted { isEnding.isSet } }
    let code = await wait(signals, receiver, log)
    isEnding.set()
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
      do throws(ReceiveOptions.OptionError) {
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

/// Told once, heard by others.
private final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
