/* A server that has the C library musl. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int n, char **words)
{
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(atoi(words[1])),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(l, (void *)&a, sizeof a) || listen(l, 64))
		return 1;
	for (;;) {
		int c = accept(l, 0, 0);
		if (c < 0) {
			perror("accept");
			return 2;
		}
		char head[8192];
		size_t had = 0;
		ssize_t got;
		while (had < sizeof head - 1 && (got = recv(c, head + had, sizeof head - 1 - had, 0)) > 0) {
			had += got;
			head[had] = 0;
			if (strstr(head, "\r\n\r\n"))
				break;
		}
		const char *answer =
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ndone\n";
		if (strstr(head, "GET /slow"))
			usleep(300000);
		send(c, answer, strlen(answer), 0);
		close(c);
	}
}
