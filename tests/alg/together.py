#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: a disk, a tunnel and kTLS on ocf_alg at the same time, while
cards come and go.

    tests/alg/together.py [PULLS]
"""

import sys
import threading
import unittest

sys.dont_write_bytecode = True

import disk  # noqa: E402
import esp  # noqa: E402
import ktls  # noqa: E402

PULLS = 200


class Together(esp.Esp, ktls.Ktls, disk.Disk):
    pulled = PULLS

    def runTest(self):
        """Each as often as it can be until enough cards were pulled."""
        wrong, rounds = [], {}

        def repeat(what) -> None:
            try:
                while self.pulls < self.pulled and not wrong:
                    what()
                    rounds[what.__name__] = rounds.get(what.__name__, 0) + 1
            except BaseException as e:  # is raised by the test below
                wrong.append(e)

        with self.cards() as puller, self.disk("aes-xts-plain64") as path:
            def use_disk():
                self.keeps(path, self.pulls)

            def use_tunnel():
                self.transfers(esp.MIB, esp.INNER[4])

            def use_ktls():
                self.carries(esp.MIB)

            self.protect(esp.GCM, inner=4)
            puller.start()
            users = [threading.Thread(target=repeat, args=(what,))
                     for what in (use_disk, use_tunnel, use_ktls)]
            for user in users:
                user.start()
            for user in users:
                user.join()
        print(f"# {self.pulls} pulls; rounds: {rounds}", file=sys.stderr)
        for e in wrong:
            raise e
        self.assertEqual(3, len(rounds))
        self.no_errors()


if __name__ == "__main__":
    Together.pulled = int(*sys.argv[1:] or [PULLS])
    suite = unittest.TestSuite([Together()])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(not result.wasSuccessful())
