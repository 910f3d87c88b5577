"""The report as one HTML file: a matrix, a list to filter, a page for each case; it loads nothing from the network.

`table` reads the runs, `verdict_styles` has letters and colours of verdicts, `matrix` makes the matrix, `case_data`
describes cases, `blocks` packs the data, `page` fills the template. `script/` is the page's JavaScript.
"""
