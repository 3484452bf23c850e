/// The two kinds of exports.
enum PolycamGeneration: String {
  case lidar
  /// Without depth.
  case photo
}
