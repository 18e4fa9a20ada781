"""What has nothing to do uses no processor."""
import time

import watch

MOST = 0.0005    # of one processor: what shows as 0.0 %


def check(report, server, bench, chat_arguments, seconds):
    """Of a server that has served and of a chat that waits for the next line, at the same time."""
    chat = bench.chat(*chat_arguments)
    try:
        chat.prompt()
        chat.line("Hello")
        chat.prompt()
        connection = server.connect()
        time.sleep(0.5)
        processes = {"the server": server.process.pid, "the chat": chat.process.pid}
        before = {name: watch.cpu_seconds(pid) for name, pid in processes.items()}
        time.sleep(seconds)
        for name, pid in processes.items():
            used = watch.cpu_seconds(pid) - before[name]
            report.judge(used <= max(MOST * seconds, 0.011), f"idle: {name} used {used:.2f} s of processor time in "
                         f"{seconds} s = {100 * used / seconds:.2f} %, 0 %")
        connection.close()
    finally:
        chat.close()
