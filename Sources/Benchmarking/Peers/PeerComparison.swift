/// Peers and this program's color export on the same video, measured alternately.
public struct PeerComparison: Hashable, Sendable, Codable {
  /// What was compared, or why nothing was.
  public var note: String
  var ours: [Figures] = []
  var peers: [Figures] = []
  /// Every variant of this program against every peer.
  var ratios: [Ratio] = []
  /// The pictures of each peer compared with this program's.
  var checks: [PictureCheck]?
  /// What was run, by the names of `ours` and `peers`.
  var commands: [Command]?
  /// Requested peers that are missing, with reasons, one sentence each.
  var missing: [String]?

  struct Ratio: Hashable, Codable {
    var ours: String
    var peer: String
    var theirsByOurs: Quotients
  }

  /// Medians of the peer divided by this program's; above 1 this program needs less.
  struct Quotients: Hashable, Codable {
    var cpuSeconds: Double
    var wallSeconds: Double
    var outputBytes: Double

    init(of theirs: Figures, by ours: Figures) {
      cpuSeconds = theirs.cpuSeconds.median / max(ours.cpuSeconds.median, 1e-9)
      wallSeconds = theirs.wallSeconds.median / max(ours.wallSeconds.median, 1e-9)
      outputBytes = Double(theirs.outputBytes) / Double(max(ours.outputBytes, 1))
    }
  }

  /// A command line of the comparison.
  public struct Command: Hashable, Sendable, Codable {
    /// Stands for the folder of the output, another one in each run.
    static let folder = "DIR"

    var name: String
    /// The program and its arguments.
    var words: [String]
  }
}

extension PeerComparison {
  /// Names in the order of the tables, with their samples.
  init(
    note: String, ours: [(String, [RunSample])], peers: [(String, [RunSample])], frames: Int,
    inputBytes: Int64
  ) {
    self.note = note
    self.ours = ours.compactMap {
      Figures(name: $0.0, $0.1, frames: frames, inputBytes: inputBytes)
    }
    self.peers = peers.compactMap {
      Figures(name: $0.0, $0.1, frames: frames, inputBytes: inputBytes)
    }
    for peer in self.peers {
      for own in self.ours {
        ratios.append(
          Ratio(
            ours: own.name, peer: peer.name, theirsByOurs: Quotients(of: peer, by: own)))
      }
    }
  }
}
