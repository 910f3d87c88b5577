"""The report as one HTML file: a matrix, a list to filter, a page for each case; it asks the network for nothing.

`table` reads the runs, `looks` says how a verdict is drawn, `matrix` counts them, `delivered` describes cases,
`blocks` packs the data, `page` puts everything into the template. What moves is in `script/`, plain JavaScript.
"""
