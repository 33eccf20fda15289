# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: certificates, servers on free ports, nginx, the provider's
openssl.cnf."""

import contextlib
import hashlib
import pathlib
import socket
import subprocess
import time

SOON = 300

NGINX = """
daemon off;
user root;
worker_processes 1;
pid {dir}/{port}.pid;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    client_max_body_size 0;
    sendfile {sendfile};
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {dir}/cert.pem;
        ssl_certificate_key {dir}/key.pem;
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_ciphers ALL;
        ssl_conf_command Options {options};
        {more}
        root {dir}/www;
        dav_methods PUT;
        # to see that a request's bytes, too, are of one connection
        keepalive_requests 1000;
    }}
}}
"""


PROVIDER = """openssl_conf = all
[all]
providers = list
alg_section = algorithms
random = numbers
[list]
default = default_section
ocf = ocf_section
[default_section]
activate = 1
[ocf_section]
activate = 1
least = {least}
[algorithms]
default_properties = ?provider=ocf
[numbers]
{random}
"""


def provider_conf(least: int = -1, random: str = "random = OCF-RANDOM") -> str:
    """An openssl.cnf that has programs use ocf.so."""
    return PROVIDER.format(least=least, random=random)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_certificate(folder) -> None:
    """cert.pem and key.pem, for this machine."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"],
        check=True, capture_output=True)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(command: list, port: int, **how) -> subprocess.Popen:
    """A server, once it listens."""
    process = subprocess.Popen(command, **how)
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        assert process.poll() is None, command
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return process
        time.sleep(0.05)
    process.kill()
    raise TimeoutError(command)


def nginx(program, folder, port: int, options: str, sendfile: str = "on",
          more: str = "") -> list:
    """The command that has nginx serve @folder's www."""
    conf = pathlib.Path(folder) / f"{port}.conf"
    conf.write_text(NGINX.format(dir=folder, port=port, options=options,
                                 sendfile=sendfile, more=more))
    return [program, "-c", str(conf), "-e", f"{folder}/nginx.log"]
