import ArgumentParser
import Receiving
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The program behind `scanmill receive`.
@main
struct ScanmillReceive: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill receive",
    abstract: "Receive the uploads of the apps into a staging folder.",
    discussion: """
      Takes what the ScanNet and MultiScan apps send, without a change of the apps, and other clients. A file is \
      acknowledged when it is whole and on disk. `scanmill watch` processes what has arrived.

      When it listens it prints one line, `listening on http://127.0.0.1:8000/`. It ends with 130 or 143 when it is \
      interrupted or terminated, 64 for wrong options, 73 if STAGING cannot be written, 75 if the address is in use \
      or another receiver has STAGING.
      """)

  @Argument(help: "The folder that receives captures; created if it does not exist.")
  var staging: String

  @Option(help: "Address and port to listen on; port 0 is any free one.")
  var listen = "127.0.0.1:8000"

  @Option(help: "A path in front of all addresses (repeatable); /multiscan is always there.")
  var prefix: [String] = []

  @Option(help: "A file of lines `name token`: who may upload. Read again on SIGHUP.")
  var tokenFile: String?

  @Flag(help: "Let everybody who reaches the address upload.")
  var allowAnonymous = false

  @Option(help: "Largest file (0: no limit).")
  var maximumFile = "64GiB"

  @Option(help: "Largest capture (0: no limit).")
  var maximumCapture = "256GiB"

  @Option(help: "Largest size of everything in STAGING (0: no limit).")
  var quota = "0"

  @Option(help: "Space of the disk that stays free.")
  var reserve = "1GiB"

  @Option(help: "Connections at once (0: no limit); a quarter of them per address.")
  var maximumConnections = 256

  @Option(help: "Time for the header of a request.")
  var headerTimeout = "30s"

  @Option(help: "Time without a byte of a file.")
  var idleTimeout = "60s"

  @Option(help: "Least bytes per second over any minute, as 1KiB/s (0: off).")
  var minimumRate = "1KiB/s"

  @Option(help: "Time that uploads have to end when the program is terminated.")
  var grace = "30s"

  @Option(name: [.customShort("o"), .long], help: "The folder that `watch` writes: states and reports on the page.")
  var output: String?

  @Option(help: "Further endings of files that are accepted, with commas.")
  var extensions: String?

  @Option(help: "An address whose X-Forwarded-For is believed (repeatable).")
  var trustedProxy: [String] = []

  @Option(help: "text or json.")
  var logFormat = LogFormat.text

  enum LogFormat: String, ExpressibleByArgument { case text, json }

  /// A program writes errors of the command line with 64.
  static func main() async {
    do {
      let command = try parse()
      Glibc.exit(await command.served())
    } catch {
      Self.exit(withError: error)
    }
  }

  func run() async throws {}

  /// Serves until a signal; the exit code.
  private func served() async -> Int32 {
    let options: ReceiveOptions
    do throws(ReceiveOptions.OptionError) {
      options = try ReceiveOptions(self)
    } catch {
      return Self.fail(64, error.description)
    }
    signal(SIGPIPE, SIG_IGN)
    let signals = SignalStream([SIGINT, SIGTERM, SIGHUP])
    let log = ReceiveLog(isJSON: logFormat == .json)
    let store: UploadStore
    do throws(UploadStore.OpenError) {
      store = try UploadStore(
        at: FilePath(staging), limits: options.limits, log: { log.note($0) })
    } catch {
      switch error {
      case .inUse(let holder):
        return Self.fail(75, "\(staging): another receiver has it (\(holder)); end that one first")
      case .file(let error): return Self.fail(73, error.description)
      }
    }
    let states: any CaptureStates =
      output.map { OutputStates(FilePath($0), staging: store.path) } ?? NoCaptureStates()
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
          75, "\(options.settings.host):\(options.settings.port): the address is in use; choose another with --listen")
      }
      return Self.fail(64, error.description)
    }
    let host = options.settings.host.contains(":") ? "[\(options.settings.host)]" : options.settings.host
    print("listening on http://\(host):\(port)/")
    fflush(nil)
    let upkeep = Task.detached(priority: .background) {
      store.enterUnlisted { Task.isCancelled }
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(600))
        store.removeExpired()
      }
    }
    let code = await wait(signals, receiver, log)
    upkeep.cancel()
    await receiver.end()
    store.close()
    return code
  }

  private func wait(_ signals: SignalStream, _ receiver: Receiver, _ log: ReceiveLog) async -> Int32 {
    for await number in signals.numbers {
      guard number == SIGHUP else { return 128 + number }
      guard let tokenFile else { continue }
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
    FileHandleText.standardError("error: \(message)\n")
    return code
  }
}
