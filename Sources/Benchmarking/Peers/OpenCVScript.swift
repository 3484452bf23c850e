/// A typical script that exports a video with OpenCV in Python: every picture, with OpenCV's
/// settings.
enum OpenCVScript {
  /// For `python3 -c`; arguments: the video, and the folder for `000000.png` and so on. Exits with
  /// 1 when the video cannot be opened or a picture cannot be written.
  static let text = """
    import sys
    import cv2
    video, folder = sys.argv[1:3]
    capture = cv2.VideoCapture(video)
    if not capture.isOpened():
        sys.exit("cv2.VideoCapture cannot open " + video)
    number = 0
    while True:
        good, picture = capture.read()
        if not good:
            break
        if not cv2.imwrite("%s/%06d.png" % (folder, number), picture):
            sys.exit("cv2.imwrite cannot write to " + folder)
        number += 1
    """

  /// Prints the version of OpenCV; exits with 1 if this Python does not have it.
  static let version = "import cv2; print(cv2.__version__)"
}
