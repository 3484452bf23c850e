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
    /// The same three, all in one direction.
    public var theirsByOurs: Quotients

    init(ours: String, peer: String, cpu: Double, wall: Double, size: Double) {
      (self.ours, self.peer) = (ours, peer)
      (self.cpu, self.wall, self.size) = (cpu, wall, size)
      theirsByOurs = Quotients(
        cpuSeconds: cpu, wallSeconds: wall, outputBytes: size > 0 ? 1 / size : 0)
    }
  }

  /// Values of the peer divided by this program's; above 1 this program needs less.
  public struct Quotients: Hashable, Sendable, Codable {
    public var cpuSeconds: Double
    public var wallSeconds: Double
    public var outputBytes: Double
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
        ratios.append(
          Ratio(
            ours: own.name, peer: peer.name,
            cpu: peer.cpuSeconds.median / max(own.cpuSeconds.median, 1e-9),
            wall: peer.wallSeconds.median / max(own.wallSeconds.median, 1e-9),
            size: Double(own.outputBytes) / Double(max(peer.outputBytes, 1))))
      }
    }
  }
}
