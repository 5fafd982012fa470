/*
 * ext4_cut <mount point>: the file system stops as in a power cut: nothing
 * that is not on the disk yet will get there.  As root; ext4 only.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef EXT4_IOC_SHUTDOWN
#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
#endif
#define CUT_WITHOUT_LOG 2u	/* not even the journal is written */

int main(int argc, char **argv)
{
	uint32_t how = CUT_WITHOUT_LOG;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: ext4_cut <mount point>\n");
		return 129;
	}
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, EXT4_IOC_SHUTDOWN, &how) < 0) {
		perror(argv[1]);
		return 128;
	}
	close(fd);
	return 0;
}
