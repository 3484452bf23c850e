import Core
import Engine

/// Which part of a data set a frame belongs to.
///
/// Names and times alone decide it, so that a capture stays where it is when others are added. Shares hold over many
/// captures (scenes, devices, blocks), and only roughly over a few.
public struct FrameSplit: Hashable, Sendable {
  /// What stays together.
  public enum Way: SpelledValue, Hashable {
    case capture
    /// By the label of the scene, or the id of the device; a capture without one is by itself.
    case scene
    case device
    /// Stretches of time of a capture. Frames within `marginNanoseconds` of a stretch of another part are in no part,
    /// because they show what their neighbors show.
    case blocks(nanoseconds: Int64)
    /// Every n-th frame, by index, is in the second part, all others in the first.
    case every(Int)

    public static let domain = "capture, scene, device, blocks:10s or every:8"

    public init?(_ text: String) {
      let words = text.split(separator: ":", maxSplits: 1).map(\.withoutBlanks)
      switch (words.first, words.count > 1 ? words[1] : nil) {
      case ("capture", nil): self = .capture
      case ("scene", nil): self = .scene
      case ("device", nil): self = .device
      case ("blocks", let length?):
        guard let nanoseconds = DurationSyntax.nanoseconds(length), nanoseconds >= 1_000_000 else {
          return nil
        }
        self = .blocks(nanoseconds: nanoseconds)
      case ("every", let step?):
        guard let step = Int(step), step > 1 else { return nil }
        self = .every(step)
      default: return nil
      }
    }

    public var text: String {
      switch self {
      case .capture: "capture"
      case .scene: "scene"
      case .device: "device"
      case .blocks(let nanoseconds): "blocks:" + DurationSyntax.text(nanoseconds: nanoseconds)
      case .every(let step): "every:\(step)"
      }
    }
  }

  /// The names of the parts, and how much each has of the whole.
  public struct Shares: SpelledValue, Hashable {
    public static let domain = "shares such as train=80,val=10,test=10"

    struct Share: Hashable {
      var name: String
      var number: Double
    }

    let list: [Share]

    var names: [String] { list.map(\.name) }

    /// - Parameter shares: with names that differ, and numbers above 0 whose sum is finite.
    init(_ shares: [(name: String, number: Double)]) {
      list = shares.map { Share(name: $0.name, number: $0.number) }
    }

    /// Names are letters, digits, `-` and `_`; numbers are above 0.
    public init?(_ text: String) {
      var list: [Share] = []
      for share in text.split(separator: ",", omittingEmptySubsequences: false) {
        let sides = share.split(separator: "=", omittingEmptySubsequences: false)
          .map(\.withoutBlanks)
        guard sides.count == 2, let number = Double(sides[1]), number > 0, number.isFinite,
          !sides[0].isEmpty, !list.contains(where: { $0.name == sides[0] }),
          sides[0].utf8.allSatisfy(\.isWordByte)
        else { return nil }
        list.append(Share(name: sides[0], number: number))
      }
      guard list.reduce(0, { $0 + $1.number }).isFinite else { return nil }
      self.list = list
    }

    public var text: String {
      list.map { share in
        let whole = Int(exactly: share.number).map { "\($0)" }
        return "\(share.name)=\(whole ?? "\(share.number)")"
      }.joined(separator: ",")
    }
  }

  public let way: Way
  let shares: Shares

  /// The one spelling of way and shares.
  public var text: String { "\(way.text) \(shares.text)" }

  /// Frames nearer than this to a block of another part are left out; at most a tenth of a block.
  static let marginNanoseconds: Int64 = 1_000_000_000

  /// `nil` for texts that are none, and for what has too few parts.
  public init?(_ way: String, shares: String) {
    guard let way = Way(way), let shares = Shares(shares) else { return nil }
    self.init(way, shares)
  }

  /// `nil` where each n-th frame has no part of its own.
  init?(_ way: Way, _ shares: Shares) {
    if case .every = way, shares.list.count < 2 { return nil }
    (self.way, self.shares) = (way, shares)
  }

  /// The parts of the frames of one capture.
  struct OfCapture {
    let split: FrameSplit
    /// The name that captures of one group share.
    let key: String
    /// The time of the capture's first frame.
    let firstNanoseconds: Int64?

    /// The name of the part; `nil`: none.
    func part(ofFrame frame: Int, at nanoseconds: Int64?) -> String? {
      switch split.way {
      case .capture, .scene, .device: return split.part(named: key)
      case .every(let step):
        return split.shares.names[frame.isMultiple(of: step) ? 1 : 0]
      case .blocks(let length):
        // Without times the capture stays together.
        guard let nanoseconds, let firstNanoseconds else { return split.part(named: key) }
        let (time, overflows) = nanoseconds.subtractingReportingOverflow(firstNanoseconds)
        guard !overflows, time >= 0 else { return nil }
        let block = time / length
        let own = part(ofBlock: block)
        let margin = min(FrameSplit.marginNanoseconds, length / 10)
        let within = time % length
        if within < margin, block > 0, part(ofBlock: block - 1) != own { return nil }
        if length - within <= margin, part(ofBlock: block + 1) != own { return nil }
        return own
      }
    }

    private func part(ofBlock block: Int64) -> String { split.part(named: "\(key)#\(block)") }
  }

  /// The part of what has this name: the same in every run and on every machine.
  private func part(named name: String) -> String {
    let number = Digest(of: name).bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let place = Double(number) / 18_446_744_073_709_551_616
    let all = shares.list.reduce(0) { $0 + $1.number }
    var end = 0.0
    let own = shares.list.first { share in
      end += share.number
      return place < end / all
    }
    return (own ?? shares.list[shares.list.count - 1]).name
  }
}

extension Substring {
  /// The text without blanks at its ends.
  fileprivate var withoutBlanks: String {
    var text = drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

extension UInt8 {
  fileprivate var isWordByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
