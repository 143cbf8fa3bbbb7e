# bgpd announces what zebra sees connected: the link carries the service.
up() { ip link set anycast0 up; }
down() { ip link set anycast0 down; }
