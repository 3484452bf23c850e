/// `capture-info.json`.
struct TrackInfo {
  let plan: TrackPlan
  let token: String
  let first: TrackPoint
  let createdAt: Int

  static let title = "Caf\u{e9} \"A\" / B \u{2603}"

  var mediaExtension: String { plan.form.isStill ? "jpg" : "mov" }

  var json: JSONTree {
    var members: [String: JSONTree] = [
      "token": .text(token), "title": .text(Self.title),
      "created_at": plan.form == .v0 ? .text("\(createdAt)") : JSONTree(createdAt),
      "uploaded_at": 0, "coords": [.number(first.latitude), .number(first.longitude)],
      "heading": .number(first.heading), "orientation": "vertical",
      "media_type": plan.form.isStill ? "image" : "video",
      TrackPlan.File.media.rawValue: .text(path("\(token).\(mediaExtension)", "/etc/hostname")),
      TrackPlan.File.geodata.rawValue: .text(
        path("\(token).json", "\(token)/../../../outside/\(token).json")),
      TrackPlan.File.thumbnail.rawValue: .text(path("\(token).png", "../../secret.png")),
    ]
    if plan.lacksMediaType { members["media_type"] = nil as JSONTree? }
    if plan.lacksCreationTime { members["created_at"] = nil as JSONTree? }
    for key in plan.extraKeys { members[key] = 7 }
    return .object(members)
  }

  private func path(_ name: String, _ bad: String) -> String {
    if plan.hasBadPaths { return bad }
    return plan.form == .v0 ? name : "\(token)/\(name)"
  }
}
