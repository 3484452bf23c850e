import Captures
import Core

/// What earlier nights and all devices tell, and what happened when in this one.
enum NightHistory {
  static let mostNights = 14

  /// The last nights with a run, oldest first; this one is not among them.
  static func nights(_ runs: [RunEntry], before from: String, now: Int64) -> [NightReport.Night] {
    let tonight = UTCText.nanoseconds(from).map(NightClock.night) ?? NightClock.night(of: now)
    var byNight: [String: [RunEntry]] = [:]
    for run in runs {
      guard let start = UTCText.nanoseconds(run.started) else { continue }
      let night = NightClock.night(of: start)
      if night < tonight { byNight[night, default: []].append(run) }
    }
    return byNight.keys.sorted().suffix(mostNights).map { date in
      var latest: [String: RunEntry.Attempt] = [:]
      var night = NightReport.Night(date: date)
      for run in byNight[date] ?? [] {
        for attempt in run.attempts where attempt.isWork {
          latest[attempt.capture] = attempt
          night.bytes &+= attempt.bytes
        }
        night.hours += run.seconds / 3600
      }
      night.captures = latest.count
      night.failed = latest.values.count(where: \.hasFailed)
      return night
    }
  }

  /// More than this per device are only counted.
  private static let mostNotSafe = 200

  /// The devices by their last upload, newest first.
  static func devices(_ rows: [CaptureRow]) -> [NightReport.Device] {
    var devices: [String: NightReport.Device] = [:]
    var judged: [String: [QualityTrend.Sample]] = [:]
    for row in rows {
      guard let name = row.device else { continue }
      let time = row.firstRun ?? row.recordedAt ?? ""
      var device = devices[name] ?? NightReport.Device(device: name, captures: 0, lastUpload: time)
      device.captures += 1
      device.lastUpload = max(device.lastUpload, time)
      let custody = Custody(row)
      device.receivedFiles += custody.receivedFiles ?? 0
      device.expectedFiles += custody.expectedFiles ?? custody.receivedFiles ?? 0
      if custody.isSafe {
        device.safe += 1
      } else if device.notSafe.count < mostNotSafe {
        device.notSafe.append(.init(id: row.id, reasons: custody.lacks))
      }
      devices[name] = device
      if let quality = row.quality {
        judged[name, default: []].append(
          QualityTrend.Sample(
            // Devices that their owners call the same are not one device.
            device: row.deviceInfo.id ?? "", family: row.family ?? "",
            time: row.recordedAt ?? time, id: row.id, quality: quality))
      }
    }
    for (name, samples) in judged {
      let trends = QualityTrend.all(of: samples)
      if !trends.isEmpty { devices[name]?.quality = trends }
    }
    return devices.values.sorted {
      ($1.lastUpload, $0.device) < ($0.lastUpload, $1.device)
    }
  }

  /// What is different from the last night with a run before this one.
  static func changes(
    _ runs: [RunEntry], _ rows: [CaptureRow], before from: String, now: Int64
  ) -> NightChanges? {
    guard let start = UTCText.nanoseconds(from) else { return nil }
    let tonight = NightClock.night(of: start)
    var (then, last): ([String: Bool], String) = ([:], "")
    var firstNights: [String: String] = [:]
    for run in runs {
      for attempt in run.attempts where attempt.isWork {
        guard let time = UTCText.nanoseconds(attempt.started ?? run.started) else { continue }
        let night = NightClock.night(of: time)
        if firstNights[attempt.capture] == nil { firstNights[attempt.capture] = night }
        guard night < tonight, attempt.outcome != nil else { continue }
        last = max(last, night)
        then[attempt.capture] = attempt.neededPerson
      }
    }
    guard !last.isEmpty else { return nil }
    var changes = NightChanges(
      date: last, received: firstNights.values.count { $0 >= tonight },
      receivedBefore: firstNights.values.count { $0 == last })
    for row in rows {
      let needs = row.needsPerson
      // What no run has worked on needed a person then if it has been as it is since.
      let since = row.since.flatMap(UTCText.nanoseconds)
      let needed = then[row.id] ?? (needs && since.map { $0 < start } == true)
      switch (needed, needs) {
      case (true, true): changes.stillNeeding.append(row.id)
      case (false, true): changes.newlyNeeding.append(row.id)
      // A capture that was only marked is not repaired.
      case (true, false) where row.state == .done && row.mark?.isCurrent != true:
        changes.repaired.append(row.id)
      case (true, false), (false, false): break
      }
    }
    return changes
  }

  /// Beyond this many they cannot be seen.
  static let mostSpans = 20_000

  /// One span per attempt of which the times are known, by start; of very many the last ones.
  static func timeline(
    _ runs: [RunEntry], _ selection: RunSelection, pauses: [WatchRecord.PauseReason] = [],
    from start: String = "", now: String
  ) -> [NightReport.Span] {
    var spans = pauses.filter { ($0.to ?? now) >= start && $0.from <= now }.map {
      NightReport.Span(
        capture: nil, kind: $0.kind, from: max($0.from, start), to: $0.to ?? now)
    }
    for run in runs {
      for attempt in run.attempts where selection.includes(attempt, of: run) {
        guard let start = attempt.started else { continue }
        let end = attempt.finished ?? run.finished ?? run.lastEvent ?? now
        let kind = (attempt.outcome ?? .interrupted).rawValue
        spans.append(
          NightReport.Span(
            capture: attempt.capture, kind: kind, from: start, to: max(start, end), run: run.id))
      }
    }
    spans.sort { ($0.from, $0.capture ?? "") < ($1.from, $1.capture ?? "") }
    return spans.suffix(mostSpans)
  }
}
