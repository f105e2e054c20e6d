// Package browsertest tests pages in a headless Chromium. It is a separate module, so that the library does not depend
// on the driver of the browser.
//
// If WRIT_SCREENSHOTS is set, the tests write screenshots of the pages to this folder.
package browsertest
