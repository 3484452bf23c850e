import ArgumentParser

/// The options of `scanmill receive`, as written on the command line.
public struct ReceiveArguments: ParsableArguments {
  public static let abstract = "Receive the uploads of the apps into a staging folder."
  public static let discussion = """
    Takes what the ScanNet and MultiScan apps send, without a change of the apps, and other clients. A file is \
    acknowledged when it is whole and on disk, and `scanmill watch` processes what has arrived. Verified files are \
    never overwritten.

    When it listens it prints one line, `listening on http://127.0.0.1:8000/`. It ends with 143 or 130 when it is \
    told to end, 64 for wrong options, 73 if STAGING cannot be written, and 75 if the address is in use or another \
    receiver has STAGING. SIGHUP reads the tokens again. Sizes are written as 64GiB, times as 30s; 0 is no limit.
    """

  @Argument(help: "The folder that receives captures; created if it does not exist.")
  public var staging: String

  @Option(
    help: ArgumentHelp(
      "Where to listen; port 0 is any free one.", valueName: "ADDRESS:PORT"))
  public var listen = "127.0.0.1:8000"

  @Option(help: "A path in front of all addresses (repeatable); /multiscan is always there.")
  public var prefix: [String] = []

  @Option(
    help: ArgumentHelp(
      "Who may upload: a file of lines `name token`.", valueName: "FILE"))
  public var tokenFile: String?

  @Flag(help: "Let everybody who reaches the address upload.")
  public var allowAnonymous = false

  @Option(help: "The largest file.")
  public var maximumFile = "64GiB"

  @Option(help: "The largest capture.")
  public var maximumCapture = "256GiB"

  @Option(help: "The largest size of everything that was received.")
  public var quota = "0"

  @Option(help: "Space of the disk that stays free.")
  public var reserve = "1GiB"

  @Option(help: "Connections at once, of which a quarter for one address.")
  public var maximumConnections = 256

  @Option(help: "Time until the header of a request is there.")
  public var headerTimeout = "30s"

  @Option(help: "Time without a byte of a file.")
  public var idleTimeout = "60s"

  @Option(help: "The least speed of an upload, over any minute.")
  public var minimumRate = "1KiB/s"

  @Option(help: "Time that uploads have to end when the program is told to end.")
  public var grace = "30s"

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "The folder that `watch` writes, for states and reports on the page.", valueName: "DIR"))
  public var output: String?

  @Option(help: ArgumentHelp("Further endings of files to accept, with commas.", valueName: "LIST"))
  public var extensions: String?

  @Option(
    help: ArgumentHelp(
      "An address whose X-Forwarded-For is believed (repeatable).", valueName: "ADDRESS"))
  public var trustedProxy: [String] = []

  @Flag(name: .short, help: "Nothing unless something failed.")
  public var quiet = false

  @Option(help: "How lines of the log are written: text or json.")
  public var logFormat = LogFormat.text

  public enum LogFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json
  }

  public init() {}
}
