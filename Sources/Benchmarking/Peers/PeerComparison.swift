/// Peers and this program's color export on the same video, measured alternately.
public struct PeerComparison: Hashable, Sendable, Codable {
  /// What was compared, or why nothing was.
  public var note: String
  public var ours: [Figures] = []
  public var peers: [Figures] = []
  /// Every variant of this program against every peer.
  public var ratios: [Ratio] = []
  /// The pictures of each peer compared with this program's.
  public var checks: [PictureCheck]?
  /// Requested peers that are missing, with reasons, one sentence each.
  public var missing: [String]?

  public struct Ratio: Hashable, Sendable, Codable {
    public var ours: String
    public var peer: String
    /// CPU and wall time of the peer as a multiple of this program's, from medians.
    public var cpu: Double
    public var wall: Double
    /// This program's bytes as a fraction of the peer's: the other way than `cpu` and `wall`.
    public var size: Double
    /// The same three, all in one direction; `nil` in reports of older programs.
    public var theirsByOurs: Quotients?
  }

  /// Values of the peer divided by this program's; above 1 this program needs less.
  public struct Quotients: Hashable, Sendable, Codable {
    public var cpuSeconds: Double
    public var wallSeconds: Double
    public var outputBytes: Double

    init(of ratio: Ratio) {
      cpuSeconds = ratio.cpu
      wallSeconds = ratio.wall
      outputBytes = ratio.size > 0 ? 1 / ratio.size : 0
    }
  }

  public init(note: String) {
    self.note = note
  }

  /// Names in the order of the tables, with their samples.
  public init(
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
        var ratio = Ratio(
          ours: own.name, peer: peer.name,
          cpu: peer.cpuSeconds.median / max(own.cpuSeconds.median, 1e-9),
          wall: peer.wallSeconds.median / max(own.wallSeconds.median, 1e-9),
          size: Double(own.outputBytes) / Double(max(peer.outputBytes, 1)))
        ratio.theirsByOurs = Quotients(of: ratio)
        ratios.append(ratio)
      }
    }
  }
}
