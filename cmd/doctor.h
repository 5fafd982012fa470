/*
 * What `doctor' finds, and who looks: doctor_machine.c asks the system,
 * doctor_judge.c the judge, doctor_trial.c tries whether that one is right.
 */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/cmd.h"

struct finding {
	char *name, *text;
	char *way_out; /* NULL: nothing to be done */
	bool missing;  /* keeps us from working; else advice alone */
};

struct findings {
	struct finding *v; /* in the order they are shown */
	size_t nr, cap;
	double gflops, gbs, resolution; /* NAN: not measured */
	char *device, *sandbox;
};

/* Adds a finding; the pointer is good until the next one. */
struct finding *doctor_found(struct findings *f, const char *name,
			     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_advise(struct finding *f, bool missing, const char *way_out);

/* Programs, compilers, the judge's binaries; processors, load, clock. */
void doctor_machine(struct findings *f);
/* What a jail can be made of here; disabled: maxkernel.sandbox is none. */
void doctor_sandbox(struct findings *f, bool disabled);
/* Device, resolution and roofs, as the judge measures them; nothing if
 * something is missing.  0, or ERR_STOPPED. */
int doctor_judge(struct session *s, struct findings *f, struct err *err);
/*
 * Judges the judge: kernels of equal and of known speed, and kernels that
 * cheat; a finding each, missing where it erred.  0, or ERR_STOPPED.
 */
int doctor_trial(struct session *s, struct findings *f, struct err *err);

#endif
