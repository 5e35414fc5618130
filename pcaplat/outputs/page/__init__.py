"""The page that people look at: report.html, and pictures of their own."""
