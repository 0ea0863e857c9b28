pub fn perturb() {}
