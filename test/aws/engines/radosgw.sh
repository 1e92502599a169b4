#!/usr/bin/env bash
# Serves S3 from a new Ceph of one monitor, one OSD in memory, and one gateway, in an empty folder, until it is killed together
# with its process group. radosgw.sh FOLDER PORT MONITOR_PORT
set -euo pipefail
cd "$1"
cat >ceph.conf <<CONFIGURATION
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = v2:127.0.0.1:$3
mon data = $1/mon
mon allow pool size one = true
mon max pg per osd = 2000
mon data avail crit = 1
mon cluster log file = $1/cluster.log
keyring = $1/keyring
osd data = $1/osd
osd objectstore = memstore
osd class update on start = false
osd crush initial weight = 1
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
ms bind msgr1 = false
run dir = $1
admin socket =
log file = $1/\$name.log
[client.admin]
rgw frontends = beast endpoint=127.0.0.1:$2
rgw thread pool size = 64
CONFIGURATION
export CEPH_CONF=$1/ceph.conf
mkdir mon osd
osd=$(cat /proc/sys/kernel/random/uuid)
for name in mon. client.admin osd.0; do
  ceph-authtool keyring --create-keyring --gen-key -n "$name" --cap mon 'allow *' --cap osd 'allow *'
  cat keyring >>all
done
mv all keyring
monmaptool --create --fsid "$(sed -n 's/^fsid = //p' ceph.conf)" --addv a "[v2:127.0.0.1:$3]" monmap
ceph-mon --mkfs -i a --monmap monmap --keyring keyring
ceph-mon -i a -f &
ceph osd new "$osd"
ceph-osd -i 0 --mkfs --osd-uuid "$osd"
ceph-osd -i 0 -f &
radosgw-admin user create --uid engine --display-name engine --access-key engine --secret engine-secret
exec radosgw -n client.admin -f
