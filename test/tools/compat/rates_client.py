"""A client of currency-api that knows its layout alone: {base}@{date}/v1/currencies/{code}.min.json, and .json where that fails."""

import json
import sys
import urllib.error
import urllib.request


def read(base, date, endpoint):
    url = "%s@%s/v1/%s" % (base, date, endpoint)
    try:
        return json.load(urllib.request.urlopen(url + ".min.json"))
    except urllib.error.URLError:
        return json.load(urllib.request.urlopen(url + ".json"))


base, date, amount, source, target = sys.argv[1:]
names = read(base, date, "currencies")
rates = read(base, date, "currencies/" + source)
print("%s: %s %s is %r %s" % (rates["date"], amount, names[source], float(amount) * rates[source][target], names[target]))
