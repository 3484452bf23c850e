import ArgumentParser

/// The command line of `scanmill send`.
public struct SendArguments: ParsableArguments {
  public static let abstract = "Send captures to a receiver (`scanmill receive`)."
  public static let discussion = """
    Sends every file of each capture, compares SHA-256 digests, and tells the receiver that the capture is complete. \
    What the receiver has already is not sent again, and a file that was interrupted goes on where it ended: call it \
    again after a break. Nothing is deleted or changed here.

    Ends with 1 if a capture is not complete at the receiver, 65 if the only one that was given cannot be read, 75 if the \
    receiver cannot be reached.
    """

  @Argument(help: "Captures: folders, or files that are a capture each.")
  public var captures: [String]

  @Option(
    help: ArgumentHelp(
      "Address of the receiver, as http://HOST:8000; https through a proxy.", valueName: "url"))
  public var to: String

  @Option(
    help: ArgumentHelp(
      "A file with the token: alone, or behind a name as in the receiver's file.",
      valueName: "file"))
  public var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "How often a file is tried again after a break without progress.", valueName: "n"))
  public var retries = 8

  @Flag(name: .shortAndLong, help: "Print no progress.")
  public var quiet = false

  public init() {}

  public func validate() throws {
    guard (0...1000).contains(retries) else {
      throw ValidationError("--retries: a number from 0 to 1000")
    }
  }
}
