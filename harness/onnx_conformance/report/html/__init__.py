# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file: a matrix, a filtered list, a page for each case; it loads nothing from the network.

`table` reads the runs, `verdict_styles` defines letters and colours of verdicts, `matrix` builds the matrix,
`case_data` describes cases, `blocks` packs the data, `page` fills the template. `script/` contains the JavaScript.
"""
