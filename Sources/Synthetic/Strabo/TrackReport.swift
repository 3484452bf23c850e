import Core

/// Makes the two truth documents of a Strabo capture.
struct TrackReport {
  let id: String
  let plan: TrackPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let times: TrackTimes
  /// The points that a reader uses.
  let points: [TrackPoint]
  let held: TrackPoint
  let createdAt: Int
  let warnings: WarningTally

  var expected: JSONTree {
    let pictures = plan.pictures
    let frameTimes = JSONTree((0..<pictures).map { times.nanoseconds($0) as Int64? })
    let rows = TrackRows(points: points, held: held)
    let thumbnail = TrackThumbnail.size(width: rig.color.width, height: rig.color.height)
    var failing: [JSONTree] = []
    if plan.hasEmptyMedia { failing.append("color") }
    if plan.isBrokenJSON { failing.append("tables") }
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "strabo", "generation": .text(plan.form.generation), "id": .text(id),
      "frames": JSONTree(pictures),
      "streams": ["color": color, "geo": ["points": JSONTree(points.count)]],
      "depthSha256": [], "confidenceSha256": [], "colorFrames": JSONTree(pictures),
      "colorFrameCode": options.showsFrameCode ? JSONTree(Array(0..<pictures)) : nil,
      "howToReadFrameCode": .text("in the upright picture: \(FrameCode.howToRead)"),
      "timestampsNs": ["frames": frameTimes, "color": frameTimes],
      "poses": [], "intrinsics": nil, "imu": nil,
      "geo": plan.isBrokenJSON
        ? nil
        : [
          "columns": "timestamp_ns,latitude_deg,longitude_deg,accuracy_m,heading_deg,source",
          "rows": .array((0..<pictures).map { rows.row(at: times.nanoseconds($0)) }),
        ],
      "thumbnail": pictures > 0
        ? [JSONTree(thumbnail.width), JSONTree(thumbnail.height)] : nil,
      "metadata": [
        "scene.label": .text(TrackInfo.title), "createdAt": JSONTree(createdAt),
        "durationS": .number(times.duration(frames: plan.frames)),
      ],
      "warnings": warnings.json, "mustFail": .array(failing),
      "mayFail": plan.hasEmptyMedia ? ["thumbnail"] : [],
      "exitCode": failing.isEmpty ? 0 : 1,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "strabo", generation: plan.form.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: nil,
      colorFromDepth: nil
    ).json
  }

  private var color: JSONTree {
    guard plan.pictures > 0 else { return nil }
    let isSideways = plan.clockwiseQuarterTurns % 2 == 1
    let (width, height) = (rig.color.width, rig.color.height)
    return [
      "frames": JSONTree(plan.pictures), "width": JSONTree(width), "height": JSONTree(height),
      "storedWidth": JSONTree(isSideways ? height : width),
      "storedHeight": JSONTree(isSideways ? width : height),
      "clockwiseQuarterTurns": JSONTree(plan.clockwiseQuarterTurns),
      "encoding": plan.form.isStill ? "jpeg" : "h264",
    ]
  }
}
