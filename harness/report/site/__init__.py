"""A static web site of several runs: a front page that ranks runtimes, and pages of operators, runtimes and findings."""
