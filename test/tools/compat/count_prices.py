"""Prints how many prices beancount has read from a file, and the newest one of a commodity. Its errors go to standard error."""

import sys

from beancount import loader
from beancount.core.data import Price

path, commodity = sys.argv[1:]
entries, errors, _ = loader.load_file(path)
prices = [entry for entry in entries if isinstance(entry, Price)]
newest = max((price for price in prices if price.currency == commodity), key=lambda price: price.date)
print(len(prices), newest.date, newest.amount)
for error in errors:
    print("%s:%s: %s" % (error.source["filename"], error.source["lineno"], error.message), file=sys.stderr)
sys.exit(1 if errors else 0)
