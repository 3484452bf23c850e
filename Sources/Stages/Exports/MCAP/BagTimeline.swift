import Core
import Processing

/// All messages of a bag merged by time. Nothing is copied: each stream has a read position.
struct BagTimeline {
  /// A message. Numbers are canonical frames, or indices in a table.
  enum Event: Hashable, Sendable {
    case pose(frame: Int)
    case imu(Int)
    case color(frame: Int)
    case depth(frame: Int)
    case fix(Int)

    /// Whether a file must be read for it.
    var hasPicture: Bool {
      switch self {
      case .color, .depth: true
      case .pose, .imu, .fix: false
      }
    }
  }

  struct Entry: Hashable, Sendable {
    var time: Timestamp
    var event: Event
  }

  /// Each stream's times strictly increase; at equal times the earlier stream comes first.
  let poses: [Entry]
  let imu: [SixAxisIMU.Row]
  let colors: [Entry]
  let depths: [Entry]
  let fixes: [Entry]
  private var places = [0, 0, 0, 0, 0]

  init(
    poses: [Entry] = [], imu: [SixAxisIMU.Row] = [], colors: [Entry] = [], depths: [Entry] = [],
    fixes: [Entry] = []
  ) {
    self.poses = poses
    self.imu = imu
    self.colors = colors
    self.depths = depths
    self.fixes = fixes
  }

  /// The time of the next event; `nil` after the last.
  var nextTime: Timestamp? { next?.entry.time }

  /// The next events, up to `pictures` that read a file and 4096 in all. Empty at the end.
  mutating func batch(pictures: Int) -> [Entry] {
    var entries: [Entry] = []
    var files = 0
    while entries.count < 4096, let (stream, entry) = next {
      if entry.event.hasPicture {
        guard files < pictures else { break }
        files += 1
      }
      places[stream] += 1
      entries.append(entry)
    }
    return entries
  }

  private var next: (stream: Int, entry: Entry)? {
    var first: (stream: Int, entry: Entry)?
    for stream in 0..<places.count {
      guard let entry = entry(stream, places[stream]) else { continue }
      if let known = first, known.entry.time <= entry.time { continue }
      first = (stream, entry)
    }
    return first
  }

  private func entry(_ stream: Int, _ place: Int) -> Entry? {
    let entries: [Entry]
    switch stream {
    case 0: entries = poses
    case 1:
      return place < imu.count ? Entry(time: imu[place].timestamp, event: .imu(place)) : nil
    case 2: entries = colors
    case 3: entries = depths
    default: entries = fixes
    }
    return place < entries.count ? entries[place] : nil
  }
}
