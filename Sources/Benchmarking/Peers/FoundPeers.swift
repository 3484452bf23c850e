/// The peers of this machine, and what to say of the others.
struct FoundPeers {
  private let found: [PeerFinder.Found]
  private let missing: [PeerFinder.Missing]

  private static let compressions = ["fast", "compact"]

  /// Looks for each. Cost: some starts of programs.
  init(_ peers: [Peer], _ finder: PeerFinder) {
    var found: [PeerFinder.Found] = []
    var missing: [PeerFinder.Missing] = []
    for peer in peers {
      do throws(PeerFinder.Missing) {
        found.append(try finder.find(peer))
      } catch {
        missing.append(error)
      }
    }
    self.init(found: found, missing: missing)
  }

  init(found: [PeerFinder.Found], missing: [PeerFinder.Missing]) {
    self.found = found
    self.missing = missing
  }

  /// By the names of `--compare`.
  var versions: [String: String] {
    Dictionary(found.map { ($0.peer.rawValue, $0.version) }) { first, _ in first }
  }

  /// Each command line once: `ffmpeg` stands for both of its.
  var commands: [PeerCommand] {
    found.flatMap(\.commands).reduce(into: []) { all, command in
      if !all.contains(command) { all.append(command) }
    }
  }

  /// Sentences about peers that are not compared, and why.
  var sentences: [String] {
    missing.map { "\($0.peer.rawValue) is not compared: \($0.description)" }
  }

  /// A capture's color export against them.
  func comparison(
    of subject: BenchmarkSubject, _ session: BenchmarkSession
  ) throws -> PeerComparison {
    var comparison: PeerComparison
    if found.isEmpty {
      comparison = PeerComparison(note: "nothing is compared: no peer that was named is here")
    } else if let video = subject.video {
      comparison = try session.compare(
        subject.measured, video: video, compressions: Self.compressions, peers: commands)
    } else {
      comparison = PeerComparison(
        note: "not compared: the capture's color is not a readable video")
    }
    if !missing.isEmpty { comparison.missing = sentences }
    return comparison
  }
}
