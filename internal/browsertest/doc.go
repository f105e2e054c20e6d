// Package browsertest tests pages in a headless Chromium. It is a separate module, so that the library does not depend
// on the driver of the browser. The tests write screenshots to the folder that WRIT_SCREENSHOTS names.
package browsertest
